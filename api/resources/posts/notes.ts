import { writePostEvent, type PostState } from '../../../infra/db/repositories/events.ts';
import { notePost } from '../../../infra/db/repositories/timeline.ts';
import { lockPost } from '../../../infra/ledger/post-state.ts';
import { findPostRow } from '../../../infra/db/repositories/posts.ts';
import type { Call, Reply } from '../../route.ts';
import { assertLivePost, assertPost, refuseArchived } from './access.ts';

/** GET /v1/posts/{id}/notes. */
export async function getNotes(call: Call): Promise<Reply> {
  const post = await findPostRow(call.tx, call.params.id!);
  assertLivePost(post, call.caller);
  return { status: 200, body: { notes: post.notes ?? null }, workspaceIds: [post.workspaceId ?? null] };
}

/** PATCH /v1/posts/{id}/notes, in any status: nothing that is published changes, so neither does the revision. */
export async function updateNotes(call: Call): Promise<Reply> {
  const { tx, params, caller, body } = call;
  const state = await lockPost(tx, params.id!);
  assertPost(state, caller);
  await refuseArchived(call, state.post);
  const { post } = state;
  const wished: string | null = 'notes' in body ? body.notes : post.notes ?? null;
  if (wished !== (post.notes ?? null)) write(call, state, wished);
  return { status: 200, body: { notes: wished }, workspaceIds: [post.workspaceId ?? null] };
}

function write({ tx, now, caller, requestId }: Call, state: PostState, notes: string | null): void {
  const { post } = state;
  Object.assign(post, { notes, updatedAt: now });
  // The event tells of changes of posts that are still to go out.
  const isToCome = post.status === 'draft' || post.status === 'scheduled';
  const eventId = isToCome ? writePostEvent(tx, 'post.updated', state, now, { changed: ['notes'] }) : null;
  notePost(tx, post, [{ type: 'updated', message: 'Changed: notes.', eventId, actor: caller.actor, requestId, data: { fields: ['notes'], revision: post.revision } }], now);
}
