import { ApiError } from '../../../infra/contract/errors.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { withTags } from '../../../infra/db/repositories/tags.ts';
import { notePost } from '../../../infra/db/repositories/timeline.ts';
import { tellOpened } from '../../../infra/ledger/open.ts';
import { lockPost, refreshPost } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { assertPost, refuseArchived } from './access.ts';
import { openAndStart } from './going.ts';
import { etagOf, presentPost, workspacesShown } from './posts.present.ts';
import { waiting } from './prefer-wait.ts';

/** POST /v1/posts/{id}/retry: a new attempt for every failed target whose outcome is known. What may be public is never sent again. */
export async function retryPost(call: Call): Promise<Reply> {
  const { tx, now, params, caller, body, requestId } = call;
  const state = await lockPost(tx, params.id!);
  assertPost(state, caller);
  await refuseArchived(call, state.post);
  const targets = retryable(state, body.targets ?? null);
  const { post } = state;
  post.seq += 1;
  const opened = await openAndStart(call, state, targets);
  notePost(tx, post, targets.map((target) => ({
    type: 'retry_requested', message: `Attempt ${target.attempt} on ${target.platform} was requested.`, targetId: target.id, actor: caller.actor, requestId, data: { attempt: target.attempt },
  })), now);
  tellOpened(tx, opened, now);
  refreshPost(tx, state, now);
  const reply = { status: 200, body: presentPost(await withTags(tx, state), caller), headers: { ETag: etagOf(post) }, workspaceIds: workspacesShown(post, caller) };
  return waiting(call, { state, reply });
}

function retryable(state: PostState, named: readonly string[] | null): Target[] {
  const { post } = state;
  const chosen = named === null ? [...state.targets] : namedTargets(state, named);
  if (post.status === 'publishing') throw new ApiError('POST_PUBLISHING', 'The post is being published. Look again when it has ended.', { details: { status: post.status } });
  const isUnknown = (target: Target) => state.operations.get(target.operationId ?? '')?.status === 'unknown';
  if (named !== null) refuseNamed(chosen, { isUnknown, status: post.status });
  const failed = chosen.filter((target) => target.status === 'failed');
  if (failed.length === 0) throw new ApiError('INVALID_STATE', `Nothing of a ${post.status} post has failed, so there is nothing to retry.`, { details: { status: post.status } });
  const known = failed.filter((target) => !isUnknown(target));
  if (known.length > 0) return known;
  throw unknownOnly({ operation_ids: failed.map((target) => target.operationId) });
}

function namedTargets({ targets }: PostState, named: readonly string[]): Target[] {
  const found = [...new Set(named)].map((name) => ({ name, target: targets.find((target) => target.id === name || target.accountId === name) }));
  const missing = found.find((one) => one.target === undefined);
  if (missing !== undefined) {
    throw new ApiError('TARGET_NOT_FOUND', `${missing.name} is neither a target nor a target account of this post. Read the post to find its targets.`, { details: { resource: 'target', id: missing.name } });
  }
  return [...new Set(found.map((one) => one.target!))];
}

function refuseNamed(chosen: readonly Target[], { isUnknown, status }: { isUnknown: (target: Target) => boolean; status: string }): void {
  const notFailed = chosen.filter((target) => target.status !== 'failed').map((target) => target.id);
  if (notFailed.length > 0) throw new ApiError('INVALID_STATE', 'Some of the named targets have not failed, so there is nothing to retry. Leave them out.', { details: { status, target_ids: notFailed } });
  const unknown = chosen.filter(isUnknown);
  if (unknown.length > 0) throw unknownOnly({ target_ids: unknown.map((target) => target.id), operation_ids: unknown.map((target) => target.operationId) });
}

function unknownOnly(details: Record<string, unknown>): ApiError {
  return new ApiError('PROVIDER_OUTCOME_UNKNOWN', 'Nobody knows whether this was published, so it is not sent again. Wait for a proof, or give a verdict on the operation.', { details });
}
