import type { RouteSpec } from '../../route.ts';
import { createPost } from './create.ts';
import { createBody } from './posts.schema.ts';
import { getPost } from './read.ts';
import { postReply } from './reply-schema.ts';

const tag = 'posts';
const byId = { id: { prefix: 'post_', notFound: 'POST_NOT_FOUND', resource: 'post' } } as const;

/** What the checks of a post can answer, on creation and on every change. */
const CHECKS = [
  'NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'WORKSPACE_SCOPE_CONFLICT', 'WORKSPACE_ID_REQUIRED', 'INVALID_TARGETS', 'MEDIA_NOT_FOUND',
  'INVALID_MEDIA_URL', 'CONTENT_REQUIRED', 'PREFLIGHT_FAILED', 'ACCOUNT_DISCONNECTED', 'ACCOUNT_RECONNECT_REQUIRED',
] as const;

export const postRoutes: readonly RouteSpec[] = [
  {
    method: 'POST', path: '/v1/posts', operationId: 'createPost', summary: 'Publish, schedule or draft a post', tag, permission: 'write',
    body: createBody,
    replies: { 201: { description: 'The post, at once after it was accepted; with `Prefer: wait=N` as it is after the wait.', schema: postReply, headers: ['Location', 'ETag', 'X-Usage-Count', 'X-Usage-Limit', 'Oncepost-Warnings', 'Preference-Applied'] } },
    errors: [...CHECKS, 'QUOTA_EXCEEDED'],
    handler: createPost,
  },
  {
    method: 'GET', path: '/v1/posts/{id}', operationId: 'getPost', summary: 'Read a post', tag, permission: 'read', pathIds: byId,
    replies: { 200: { description: 'The post in full.', schema: postReply, headers: ['ETag'] } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: getPost,
  },
];
