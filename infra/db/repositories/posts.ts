import { loadState } from '../../ledger/post-state.ts';
import type { Tx } from '../database.ts';
import { PostEntity } from '../entities/post.entity.ts';
import type { PostState } from './events.ts';

/** A post with what its presentation is made of, without a lock. Deleted posts are found too. */
export async function readPost(tx: Tx, id: string): Promise<PostState | null> {
  const post = await tx.findOne(PostEntity, { id });
  return post === null ? null : loadState(tx, post);
}

/** Whether a target is under way and not put off to a time beyond the deadline. */
export async function hasTargetToWaitFor(tx: Tx, postId: string, deadline: Date): Promise<boolean> {
  const rows = await tx.execute<{ id: string }[]>(
    `select target.id from target join post on post.id = target.post_id
     where target.post_id = ? and post.deleted_at is null and target.status = 'publishing' and (target.waiting_until is null or target.waiting_until <= ?) limit 1`,
    [postId, deadline],
  );
  return rows.length > 0;
}
