import { ApiError } from '../../../infra/contract/errors.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { readPost } from '../../../infra/db/repositories/posts.ts';
import { publishOperationsOf } from '../../../infra/db/repositories/target-operations.ts';
import type { Call, Reply } from '../../route.ts';
import { assertPost } from './access.ts';
import { renderingOfDraft } from './planning/plan.ts';
import { presentTargetDetail } from './targets.present.ts';

/** GET /v1/posts/{id}/targets: all of them, each with what it publishes. */
export async function listTargets(call: Call): Promise<Reply> {
  const state = await readPost(call.tx, call.params.id!);
  assertPost(state, call.caller);
  return { status: 200, body: { data: await presentTargetDetails(call, state), next_cursor: null, has_more: false }, workspaceIds: [state.post.workspaceId ?? null] };
}

/** GET /v1/posts/{id}/targets/{target_id}: named by its own id or by its account's. */
export async function getTarget(call: Call): Promise<Reply> {
  const state = await readPost(call.tx, call.params.id!);
  assertPost(state, call.caller);
  const name = call.params.target_id!;
  const target = state.targets.find((one) => one.id === name || one.accountId === name);
  if (target === undefined) throw new ApiError('TARGET_NOT_FOUND', 'This post has no target with this id. Read the post for its targets.', { details: { resource: 'target' } });
  const [body] = await present(call, state, [target]);
  return { status: 200, body, workspaceIds: [state.post.workspaceId ?? null] };
}

/** All targets of a post, in its order. */
export async function presentTargetDetails(call: Call, state: PostState): Promise<Record<string, unknown>[]> {
  return present(call, state, [...state.targets].sort((a, b) => a.position - b.position));
}

async function present({ tx, now }: Call, state: PostState, targets: readonly Target[]): Promise<Record<string, unknown>[]> {
  const attempts = await publishOperationsOf(tx, state.post.id);
  const preview = state.post.status === 'draft' ? await renderingOfDraft(tx, state.post, now) : null;
  return targets.map((target) => presentTargetDetail(target, state, { operations: attempts.get(target.id) ?? [], preview }));
}
