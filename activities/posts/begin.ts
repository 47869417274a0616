import { inScope, SYSTEM, tenant } from '../../infra/db/tenant.ts';
import { PostEntity } from '../../infra/db/entities/post.entity.ts';
import { beginPost } from '../../infra/ledger/begin.ts';
import type { BeginResult } from '../../workflows/names.ts';
import type { ActivityDeps } from '../deps.ts';

/** Begins a due post in one transaction. Dying in it leaves the post as it was; a second run finds what the first opened. */
export async function begin({ infra }: ActivityDeps, input: { postId: string; seq: number }): Promise<BeginResult> {
  const post = await inScope(infra.db, SYSTEM, (tx) => tx.findOne(PostEntity, { id: input.postId }));
  if (post === null) return { kind: 'superseded' };
  return inScope(infra.db, tenant(post), (tx) => beginPost(tx, { ...input, now: infra.clock.now() }));
}
