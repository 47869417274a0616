import { ApiError } from '../../../infra/contract/errors.ts';
import { TAGS_OF_POST_MAX } from '../../../infra/contract/limits.ts';
import type { Tag } from '../../../infra/db/entities/tag.entity.ts';
import { writePostEvent, type PostState } from '../../../infra/db/repositories/events.ts';
import { addTagOfPost, findTags, removeTagOfPost, tagsOfPosts } from '../../../infra/db/repositories/tags.ts';
import { notePost } from '../../../infra/db/repositories/timeline.ts';
import { lockPost } from '../../../infra/ledger/post-state.ts';
import { refuseBeyond } from '../../library-limit.ts';
import { findPostRow } from '../../../infra/db/repositories/posts.ts';
import type { Call, Reply } from '../../route.ts';
import { assertLibraryAccess } from '../../workspace-access.ts';
import { presentTag } from '../tags/tags.present.ts';
import { assertLivePost, assertPost, refuseArchived } from './access.ts';

/** GET /v1/posts/{id}/tags. */
export async function listPostTags(call: Call): Promise<Reply> {
  const post = await findPostRow(call.tx, call.params.id!);
  assertLivePost(post, call.caller);
  return { status: 200, body: presentTags(await tagsOf(call, post.id)), workspaceIds: [post.workspaceId ?? null] };
}

/** PUT /v1/posts/{id}/tags/{tag_id}, in any status: nothing that is published changes, so neither does the revision. */
export async function addPostTag(call: Call): Promise<Reply> {
  const { state, tag } = await toChange(call);
  assertLibraryAccess(call.caller, tag.workspaceId ?? null, 'read');
  const { post } = state;
  const before = await tagsOf(call, post.id);
  if (!before.some((one) => one.id === tag.id)) {
    refuseBeyond({ resource: 'post_tag', limit: TAGS_OF_POST_MAX }, before.length);
    await addTagOfPost(call.tx, post, tag.id, call.now);
    noteChange(call, state);
  }
  return { status: 200, body: presentTags(await tagsOf(call, post.id)), workspaceIds: [post.workspaceId ?? null] };
}

/** DELETE /v1/posts/{id}/tags/{tag_id}. A tag that is on a post may be taken from it by whoever may change the post. */
export async function removePostTag(call: Call): Promise<Reply> {
  const { state, tag } = await toChange(call);
  const before = await tagsOf(call, state.post.id);
  if (before.some((one) => one.id === tag.id)) {
    await removeTagOfPost(call.tx, state.post.id, tag.id);
    noteChange(call, state);
  } else assertLibraryAccess(call.caller, tag.workspaceId ?? null, 'read');
  return { status: 204 };
}

async function toChange(call: Call): Promise<{ state: PostState; tag: Tag }> {
  const { tx, params, caller } = call;
  const state = await lockPost(tx, params.id!);
  assertPost(state, caller);
  await refuseArchived(call, state.post);
  const [tag] = await findTags(tx, [params.tag_id!]);
  if (tag === undefined) throw new ApiError('TAG_NOT_FOUND', 'There is no tag with this id. List the tags to find theirs.', { details: { resource: 'tag' } });
  return { state, tag };
}

async function tagsOf({ tx }: Call, postId: string): Promise<Tag[]> {
  return (await tagsOfPosts(tx, [postId])).get(postId) ?? [];
}

function noteChange({ tx, now, caller, requestId }: Call, state: PostState): void {
  const { post } = state;
  post.updatedAt = now;
  // The event tells of changes of posts that are still to go out.
  const isToCome = post.status === 'draft' || post.status === 'scheduled';
  const eventId = isToCome ? writePostEvent(tx, 'post.updated', state, now, { changed: ['tag_ids'] }) : null;
  notePost(tx, post, [{ type: 'updated', message: 'Changed: tag_ids.', eventId, actor: caller.actor, requestId, data: { fields: ['tag_ids'], revision: post.revision } }], now);
}

function presentTags(tags: readonly Tag[]): Record<string, unknown> {
  return { data: tags.map(presentTag), next_cursor: null, has_more: false };
}
