import { ApiError } from '../../../infra/contract/errors.ts';
import { DELETED_POST_READABLE_MS } from '../../../infra/contract/limits.ts';
import type { Post } from '../../../infra/db/entities/post.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import type { Call, Caller } from '../../route.ts';
import { assertNamedWorkspace, assertWorkspaceAccess } from '../../workspace-access.ts';

/** Row 29: the post of the path. A deleted one is as unknown as one that never was. */
export function assertPost(state: PostState | null, caller: Caller): asserts state is PostState {
  if (state === null || state.post.deletedAt) throw postNotFound();
  assertWorkspaceAccess(caller, state.post.workspaceId ?? null);
}

/** The same for the row alone. */
export function assertLivePost(post: Post | null, caller: Caller): asserts post is Post {
  assertPostRow(post?.deletedAt ? null : post, caller);
}

/** As `assertPost`, for what stays readable for a while after a deletion. */
export function assertReadablePost(post: Post | null, { caller, now }: Pick<Call, 'caller' | 'now'>): asserts post is Post {
  const isForgotten = post?.deletedAt ? now.getTime() - post.deletedAt.getTime() > DELETED_POST_READABLE_MS : false;
  assertPostRow(isForgotten ? null : post, caller);
}

/** The same for a row that stays readable for good, deleted or not. */
export function assertPostRow(post: Post | null, caller: Caller): asserts post is Post {
  if (post === null) throw postNotFound();
  assertWorkspaceAccess(caller, post.workspaceId ?? null);
}

/** For who changes the post: nothing is new or other in an archived workspace. */
export async function refuseArchived(call: Call, { workspaceId }: Post): Promise<void> {
  if (workspaceId) await assertNamedWorkspace(call, workspaceId, 'write');
}

function postNotFound(): ApiError {
  return new ApiError('POST_NOT_FOUND', 'There is no post with this id. It was deleted, belongs to the other mode, or never was.', { details: { resource: 'post' } });
}
