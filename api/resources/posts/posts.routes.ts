import { CSV_BODY_MAX_BYTES, CSV_FILE_MAX_BYTES, CSV_TARGETS_MAX, POST_WAIT_MAX_SECONDS } from '../../../infra/contract/limits.ts';
import type { RouteSpec } from '../../route.ts';
import { pageSchema } from '../../validation/joi-types.ts';
import { getBundle } from './bundle.ts';
import { bundleReply } from './bundle.schema.ts';
import { createBulk } from './bulk.ts';
import { bulkBody, bulkReply } from './bulk.schema.ts';
import { cancelPost } from './cancel.ts';
import { createPost } from './create.ts';
import { createFromCsv } from './csv/bulk-csv.ts';
import { bulkCsvQuery, bulkCsvReply } from './csv/bulk-csv.schema.ts';
import { duplicatePost } from './duplicate.ts';
import { listPosts } from './list.ts';
import { getLog, listLogs, listPostLogs } from './logs.ts';
import { getNotes, updateNotes } from './notes.ts';
import { preflightPost } from './preflight.ts';
import { preflightReply } from './preflight.schema.ts';
import { createBody, duplicateBody, listQuery, logsQuery, notesBody, postLogsQuery, preflightBody, retryBody, updateBody } from './posts.schema.ts';
import { getPost } from './read.ts';
import { deletePost } from './remove.ts';
import { logEntryReply, notesReply, postReply } from './reply-schema.ts';
import { retryPost } from './retry.ts';
import { targetReply, targetsReply } from './targets.schema.ts';
import { getTarget, listTargets } from './targets.ts';
import { timelinePage, timelineQuery } from './timeline.schema.ts';
import { listTimeline } from './timeline.ts';
import { updatePost } from './update.ts';

const tag = 'posts';
/** For what is published at once. */
const wait = { maxSeconds: POST_WAIT_MAX_SECONDS, defaultSeconds: 0 };
const byId = { id: { prefix: 'post_', notFound: 'POST_NOT_FOUND', resource: 'post' } } as const;

/** What the checks of a post can answer, on creation and on every change. */
const CHECKS = [
  'NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'WORKSPACE_SCOPE_CONFLICT', 'WORKSPACE_ID_REQUIRED', 'INVALID_TARGETS', 'TEMPLATE_NOT_FOUND', 'TAG_NOT_FOUND', 'PLAN_UPGRADE_REQUIRED', 'MEDIA_NOT_FOUND',
  'INVALID_MEDIA_URL', 'TEMPLATE_VARIABLE_UNRESOLVED', 'CONTENT_REQUIRED', 'PREFLIGHT_FAILED', 'ACCOUNT_DISCONNECTED', 'ACCOUNT_RECONNECT_REQUIRED', 'NO_SLOT_AVAILABLE',
] as const;

export const postRoutes: readonly RouteSpec[] = [
  {
    method: 'POST', path: '/v1/posts', operationId: 'createPost', summary: 'Publish, schedule or draft a post', tag, permission: 'write',
    body: createBody, wait,
    replies: { 201: { description: 'The post, at once after it was accepted; with `Prefer: wait=N` as it is after the wait.', schema: postReply, headers: ['Location', 'ETag', 'X-Usage-Count', 'X-Usage-Limit', 'Oncepost-Warnings', 'Preference-Applied'] } },
    errors: [...CHECKS, 'QUOTA_EXCEEDED'],
    handler: (call) => createPost(call),
  },
  {
    method: 'POST', path: '/v1/posts/bulk', operationId: 'createPosts', summary: 'Create up to 50 posts, each for itself', tag, permission: 'write',
    body: bulkBody, elements: 'posts', takesTurns: true,
    replies: { 201: { description: 'What became of each post, whatever that is. Posts that are due begin one after the other, at most ten a second.', schema: bulkReply, headers: ['X-Usage-Count', 'X-Usage-Limit'] } },
    errors: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'QUOTA_EXCEEDED'],
    handler: createBulk,
  },
  {
    method: 'POST', path: '/v1/posts/bulk-csv', operationId: 'createPostsFromCsv', summary: `Create up to 500 posts with up to ${CSV_TARGETS_MAX} targets together from a CSV file, each row for itself`, tag, permission: 'write',
    query: bulkCsvQuery, multipart: { fileMaxBytes: CSV_FILE_MAX_BYTES }, bodyMaxBytes: CSV_BODY_MAX_BYTES, takesTurns: true,
    replies: {
      200: { description: 'What a run would bring, row by row. Nothing is stored.', schema: bulkCsvReply, headers: ['X-Usage-Count', 'X-Usage-Limit'] },
      201: { description: 'What became of each row. Posts that are due begin one after the other, at most ten a second.', schema: bulkCsvReply, headers: ['X-Usage-Count', 'X-Usage-Limit'] },
    },
    errors: [
      'NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'QUOTA_EXCEEDED', 'CSV_EMPTY', 'CSV_TOO_MANY_ROWS', 'CSV_TOO_MANY_COLUMNS', 'CSV_HEADER_INVALID', 'CSV_MALFORMED', 'CSV_ENCODING_INVALID',
    ],
    handler: createFromCsv,
  },
  {
    method: 'POST', path: '/v1/posts/preflight', operationId: 'preflightPost', summary: 'See what a creation would do, and what speaks against it', tag, permission: 'read',
    body: preflightBody, idempotencyKey: 'ignored',
    replies: { 200: { description: 'The whole plan. Nothing is published, stored or reserved. `valid`: a creation would be accepted.', schema: preflightReply } },
    errors: ['POST_NOT_FOUND', 'NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'INVALID_STATE'],
    handler: preflightPost,
  },
  {
    method: 'GET', path: '/v1/posts/{id}', operationId: 'getPost', summary: 'Read a post', tag, permission: 'read', pathIds: byId,
    replies: { 200: { description: 'The post in full.', schema: postReply, headers: ['ETag'] } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: getPost,
  },
  {
    method: 'GET', path: '/v1/posts', operationId: 'listPosts', summary: 'List posts, newest first', tag, permission: 'read', paged: true,
    query: listQuery,
    replies: { 200: { description: 'Without `include` the targets are `{}` and media is null.', schema: pageSchema(postReply.optional()) } },
    errors: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'INVALID_CURSOR'],
    handler: listPosts,
  },
  {
    method: 'PATCH', path: '/v1/posts/{id}', operationId: 'updatePost', summary: 'Change a draft or scheduled post', tag, permission: 'write', pathIds: byId,
    body: updateBody, wait,
    replies: { 200: { description: 'The post as it is now.', schema: postReply, headers: ['ETag', 'Oncepost-Warnings', 'Preference-Applied'] } },
    errors: ['POST_NOT_FOUND', ...CHECKS, 'BAD_REQUEST', 'REVISION_CONFLICT', 'POST_PUBLISHING', 'INVALID_STATE'],
    handler: updatePost,
  },
  {
    method: 'DELETE', path: '/v1/posts/{id}', operationId: 'deletePost', summary: 'Delete a post; nothing is removed from a platform', tag, permission: 'write', pathIds: byId,
    replies: { 204: { description: 'The post is hidden, and what was not sent is never sent.' } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: deletePost,
  },
  {
    method: 'POST', path: '/v1/posts/{id}/retry', operationId: 'retryPost', summary: 'Publish failed targets again', tag, permission: 'write', pathIds: byId,
    body: retryBody, wait,
    replies: { 200: { description: 'The post, publishing.', schema: postReply, headers: ['ETag', 'Preference-Applied'] } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'TARGET_NOT_FOUND', 'POST_PUBLISHING', 'INVALID_STATE', 'PROVIDER_OUTCOME_UNKNOWN'],
    handler: retryPost,
  },
  {
    method: 'POST', path: '/v1/posts/{id}/cancel', operationId: 'cancelPost', summary: 'Stop what was not sent yet', tag, permission: 'write', pathIds: byId,
    replies: { 200: { description: 'Scheduled: a draft again. Publishing: targets not sent yet have failed with CANCELLED; those being sent go on.', schema: postReply, headers: ['ETag'] } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'INVALID_STATE'],
    handler: cancelPost,
  },
  {
    method: 'POST', path: '/v1/posts/{id}/duplicate', operationId: 'duplicatePost', summary: 'Make a new post of an existing one', tag, permission: 'write', pathIds: byId,
    body: duplicateBody, wait,
    replies: { 201: { description: 'The new post, a draft unless scheduled_at says otherwise.', schema: postReply, headers: ['Location', 'ETag', 'X-Usage-Count', 'X-Usage-Limit', 'Oncepost-Warnings', 'Preference-Applied'] } },
    errors: ['POST_NOT_FOUND', ...CHECKS, 'PROVIDER_OUTCOME_UNKNOWN', 'INVALID_STATE', 'QUOTA_EXCEEDED'],
    handler: duplicatePost,
  },
  {
    method: 'GET', path: '/v1/posts/{id}/notes', operationId: 'getPostNotes', summary: 'Read the internal notes of a post', tag, permission: 'read', pathIds: byId,
    replies: { 200: { description: 'The notes; null where there are none.', schema: notesReply } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: getNotes,
  },
  {
    method: 'PATCH', path: '/v1/posts/{id}/notes', operationId: 'updatePostNotes', summary: 'Change the internal notes of a post in any status', tag, permission: 'write', pathIds: byId,
    body: notesBody,
    replies: { 200: { description: 'The notes as they are now. The revision of the post stays.', schema: notesReply } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE'],
    handler: updateNotes,
  },
  {
    method: 'GET', path: '/v1/posts/{id}/timeline', operationId: 'listPostTimeline', summary: 'Read what happened to a post, in order', tag, permission: 'read', paged: true, pathIds: byId,
    query: timelineQuery,
    replies: { 200: { description: 'A page of entries, oldest first, those of its operations among them. Readable for 90 days after a deletion.', schema: timelinePage } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'INVALID_CURSOR'],
    handler: listTimeline,
  },
  {
    method: 'GET', path: '/v1/posts/{id}/bundle', operationId: 'getPostBundle', summary: 'Download all that is known about a post', tag, permission: 'read', pathIds: byId,
    replies: { 200: { description: 'One file without secrets, at most 8 MiB. Readable for 90 days after a deletion.', schema: bundleReply, headers: ['Content-Disposition'] } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: getBundle,
  },
  {
    method: 'GET', path: '/v1/posts/{id}/targets', operationId: 'listPostTargets', summary: "Read a post's targets in full", tag, permission: 'read', pathIds: byId,
    replies: { 200: { description: 'All targets, in the order of the post.', schema: targetsReply } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: listTargets,
  },
  {
    // No form is promised for the second id: it may be the target's or its account's.
    method: 'GET', path: '/v1/posts/{id}/targets/{target_id}', operationId: 'getPostTarget', summary: 'Read one target of a post, by its id or its account', tag, permission: 'read', pathIds: byId,
    replies: { 200: { description: 'The target.', schema: targetReply } },
    errors: ['POST_NOT_FOUND', 'TARGET_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: getTarget,
  },
  {
    method: 'GET', path: '/v1/posts/logs', operationId: 'listPublishingLogs', summary: 'Publishing log: one row per target, latest change first', tag, permission: 'read', paged: true,
    query: logsQuery,
    replies: { 200: { description: 'A row changes in place when its target changes.', schema: pageSchema(logEntryReply.optional()) } },
    errors: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'INVALID_CURSOR'],
    handler: listLogs,
  },
  {
    method: 'GET', path: '/v1/posts/logs/{target_id}', operationId: 'getPublishingLog', summary: 'One row of the publishing log', tag, permission: 'read',
    pathIds: { target_id: { prefix: 'pt_', notFound: 'NOT_FOUND', resource: 'publishing_log' } },
    replies: { 200: { description: 'The row.', schema: logEntryReply } },
    errors: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: getLog,
  },
  {
    method: 'GET', path: '/v1/posts/{id}/logs', operationId: 'listPublishingLogsOfPost', summary: 'Publishing log of one post', tag, permission: 'read', paged: true, pathIds: byId,
    query: postLogsQuery,
    replies: { 200: { description: 'Readable for deleted posts too.', schema: pageSchema(logEntryReply.optional()) } },
    errors: ['POST_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'INVALID_CURSOR'],
    handler: listPostLogs,
  },
];
