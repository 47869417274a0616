import { LIBRARY_ERRORS } from '../../library.ts';
import type { RouteSpec } from '../../route.ts';
import { create, list, patch, read, remove } from './tags.handlers.ts';
import { createBody, listQuery, tagPage, tagReply, updateBody } from './tags.schema.ts';

const tag = 'tags';
const pathIds = { id: { prefix: 'tag_', notFound: 'TAG_NOT_FOUND', resource: 'tag' } } as const;

export const tagRoutes: readonly RouteSpec[] = [
  {
    method: 'GET', path: '/v1/tags', operationId: 'listTags', summary: 'List tags by name', tag, permission: 'read', paged: true,
    query: listQuery,
    replies: { 200: { description: 'A page of tags, in order of name.', schema: tagPage } },
    errors: LIBRARY_ERRORS.list,
    handler: list,
  },
  {
    method: 'POST', path: '/v1/tags', operationId: 'createTag', summary: 'Make a tag', tag, permission: 'write',
    body: createBody,
    replies: { 201: { description: 'The tag.', schema: tagReply, headers: ['Location'] } },
    errors: [...LIBRARY_ERRORS.create, 'TAG_NAME_TAKEN'],
    handler: create,
  },
  {
    method: 'GET', path: '/v1/tags/{id}', operationId: 'getTag', summary: 'Read a tag', tag, permission: 'read', pathIds,
    replies: { 200: { description: 'The tag.', schema: tagReply } },
    errors: LIBRARY_ERRORS.read,
    handler: read,
  },
  {
    method: 'PATCH', path: '/v1/tags/{id}', operationId: 'updateTag', summary: 'Change a tag', tag, permission: 'write', pathIds,
    body: updateBody,
    replies: { 200: { description: 'The tag as it is now.', schema: tagReply } },
    errors: [...LIBRARY_ERRORS.change, 'TAG_NAME_TAKEN'],
    handler: patch,
  },
  {
    method: 'DELETE', path: '/v1/tags/{id}', operationId: 'deleteTag', summary: 'Delete a tag and take it from every post', tag, permission: 'write', pathIds,
    replies: { 204: { description: 'It is gone, and no post has it any more.' } },
    errors: LIBRARY_ERRORS.change,
    handler: remove,
  },
];
