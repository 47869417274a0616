import { loadState } from '../../ledger/post-state.ts';
import type { Tx } from '../database.ts';
import { AccountEntity, type Account } from '../entities/account.entity.ts';
import { OperationEntity, type Operation } from '../entities/operation.entity.ts';
import { PostEntity } from '../entities/post.entity.ts';
import { TargetEntity, type Target } from '../entities/target.entity.ts';
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

/** The posts of a page, in its order: id and list time, one more than the page holds. */
export async function selectPostIds(tx: Tx, query: { sql: string; params: unknown[]; order: string; time: string }): Promise<{ id: string; at: Date }[]> {
  const rows = await tx.execute<{ id: string; at: Date | string }[]>(`select post.id, ${query.time} as at from post where ${query.sql} ${query.order}`, query.params);
  return rows.map(({ id, at }) => ({ id, at: new Date(at) }));
}

/** Posts by id in the order given. Their targets are always read; accounts and operations only to show the targets. */
export async function readPosts(tx: Tx, ids: readonly string[], options: { withRelated: boolean }): Promise<PostState[]> {
  if (ids.length === 0) return [];
  const posts = new Map((await tx.find(PostEntity, { id: { $in: [...ids] } })).map((post) => [post.id, post]));
  const targets = await tx.find(TargetEntity, { postId: { $in: [...ids] } }, { orderBy: { position: 'asc' } });
  const accounts = options.withRelated ? await accountsOf(tx, targets) : new Map<string, Account>();
  const operations = options.withRelated ? await operationsOf(tx, targets) : new Map<string, Operation>();
  const ofPost = Map.groupBy(targets, (target) => target.postId);
  return ids.flatMap((id) => (posts.has(id) ? [{ post: posts.get(id)!, targets: ofPost.get(id) ?? [], accounts, operations }] : []));
}

async function accountsOf(tx: Tx, targets: readonly Target[]): Promise<Map<string, Account>> {
  const ids = [...new Set(targets.map((target) => target.accountId))];
  return new Map((await tx.find(AccountEntity, { id: { $in: ids } })).map((one) => [one.id, one]));
}

async function operationsOf(tx: Tx, targets: readonly Target[]): Promise<Map<string, Operation>> {
  const ids = targets.flatMap((target) => target.operationId ?? []);
  return ids.length === 0 ? new Map() : new Map((await tx.find(OperationEntity, { id: { $in: ids } })).map((one) => [one.id, one]));
}
