import type { RouteSpec } from '../../route.ts';
import { tagPage } from '../tags/tags.schema.ts';
import { addPostTag, listPostTags, removePostTag } from './tags.ts';

const tag = 'posts';
const byId = { id: { prefix: 'post_', notFound: 'POST_NOT_FOUND', resource: 'post' } } as const;
const byIds = { ...byId, tag_id: { prefix: 'tag_', notFound: 'TAG_NOT_FOUND', resource: 'tag' } } as const;

export const postTagRoutes: readonly RouteSpec[] = [
  {
    method: 'GET', path: '/v1/posts/{id}/tags', operationId: 'listPostTags', summary: 'Read the tags of a post', tag, permission: 'read', pathIds: byId,
    replies: { 200: { description: 'All of them, in order of name.', schema: tagPage } },
    errors: ['WORKSPACE_ACCESS_DENIED'],
    handler: listPostTags,
  },
  {
    method: 'PUT', path: '/v1/posts/{id}/tags/{tag_id}', operationId: 'addPostTag', summary: 'Give a post a tag, in any status', tag, permission: 'write', pathIds: byIds,
    replies: { 200: { description: 'The tags of the post as they are now. The revision of the post stays.', schema: tagPage } },
    errors: ['WORKSPACE_ACCESS_DENIED', 'LIMIT_REACHED'],
    handler: addPostTag,
  },
  {
    method: 'DELETE', path: '/v1/posts/{id}/tags/{tag_id}', operationId: 'removePostTag', summary: 'Take a tag from a post, in any status', tag, permission: 'write', pathIds: byIds,
    replies: { 204: { description: 'The post has the tag no longer, or never had it. The revision of the post stays.' } },
    errors: ['WORKSPACE_ACCESS_DENIED'],
    handler: removePostTag,
  },
];
