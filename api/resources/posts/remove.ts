import { writePostDeleted } from '../../../infra/db/repositories/events.ts';
import { cancelPublishPost } from '../../../infra/db/repositories/outbox.ts';
import { notePost } from '../../../infra/db/repositories/timeline.ts';
import { cancelPending, tellCancelled } from '../../../infra/ledger/cancel.ts';
import { lockPost, refreshPost } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { assertPost } from './access.ts';

/**
 * DELETE /v1/posts/{id}: the record is hidden at once and what was not sent yet is never sent. Nothing is removed from a
 * platform; calls under way end by themselves in the ledger, and unknown ones go on being probed.
 */
export async function deletePost(call: Call): Promise<Reply> {
  const { tx, now, params, caller, requestId } = call;
  const state = await lockPost(tx, params.id!);
  assertPost(state, caller);
  const { post } = state;
  const before = post.status;
  post.deletedAt = now;
  post.updatedAt = now;
  if (before === 'draft' || before === 'scheduled') post.seq += 1;
  const cancelled = before === 'publishing' ? await cancelPending(tx, state, now) : [];
  const eventId = writePostDeleted(tx, post, before, now);
  notePost(tx, post, [{ type: 'deleted', message: `The post was deleted while ${before}.`, eventId, actor: caller.actor, requestId, data: { status: before, cancelled: cancelled.length } }], now);
  if (before === 'scheduled') await cancelPublishPost(tx, post, post.seq - 1, now);
  tellCancelled(tx, cancelled, now);
  if (cancelled.length > 0) refreshPost(tx, state, now);
  return { status: 204, workspaceIds: [post.workspaceId ?? null] };
}
