import { ApiError } from '../../../infra/contract/errors.ts';
import { writePostEvent, type PostState } from '../../../infra/db/repositories/events.ts';
import { cancelPublishPost } from '../../../infra/db/repositories/outbox.ts';
import { withTags } from '../../../infra/db/repositories/tags.ts';
import { notePost } from '../../../infra/db/repositories/timeline.ts';
import { backToDraft } from '../../../infra/ledger/back-to-draft.ts';
import { cancelPending, tellCancelled } from '../../../infra/ledger/cancel.ts';
import { followTargets, lockPost, refreshPost, tellChanges } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { assertPost } from './access.ts';
import { etagOf, presentPost, workspacesShown } from './posts.present.ts';

/** POST /v1/posts/{id}/cancel: what was not sent yet is not sent. Under the row lock that the start of publishing takes too. */
export async function cancelPost(call: Call): Promise<Reply> {
  const state = await lockPost(call.tx, call.params.id!);
  assertPost(state, call.caller);
  const { post } = state;
  if (post.status === 'scheduled') await unschedule(call, state);
  else if (post.status === 'publishing') await stopPending(call, state);
  else if (post.status !== 'draft') {
    throw new ApiError('INVALID_STATE', `A ${post.status} post has ended, so there is nothing to cancel.`, { details: { status: post.status } });
  }
  return { status: 200, body: presentPost(await withTags(call.tx, state), call.caller), headers: { ETag: etagOf(post) }, workspaceIds: workspacesShown(post, call.caller) };
}

/** As a change of `scheduled_at` to `draft`. */
async function unschedule(call: Call, state: PostState): Promise<void> {
  const { tx, now, caller, requestId } = call;
  const { post } = state;
  const { seq } = post;
  backToDraft(state, now);
  Object.assign(post, { revision: post.revision + 1, seq: seq + 1 });
  const before = followTargets(state, now);
  const eventId = writePostEvent(tx, 'post.updated', state, now, { changed: ['scheduled_at'] });
  notePost(tx, post, [{ type: 'cancel_requested', message: 'The post was cancelled before its time and is a draft again.', eventId, actor: caller.actor, requestId, data: { status: 'scheduled', revision: post.revision } }], now);
  await cancelPublishPost(tx, post, seq, now);
  tellChanges(tx, state, { before, now });
}

async function stopPending(call: Call, state: PostState): Promise<void> {
  const { tx, now, caller, requestId } = call;
  const waiting = state.targets.filter((target) => target.status === 'publishing');
  const cancelled = await cancelPending(tx, state, now);
  const message = `The post was cancelled while publishing; ${cancelled.length} of ${waiting.length} open targets were not sent yet.`;
  notePost(tx, state.post, [{ type: 'cancel_requested', message, actor: caller.actor, requestId, data: { status: 'publishing', cancelled: cancelled.length } }], now);
  tellCancelled(tx, cancelled, now);
  if (cancelled.length > 0) refreshPost(tx, state, now);
}
