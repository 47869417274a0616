import type { RouteSpec } from '../../route.ts';
import { nextSlot, previewSlots } from './ahead.ts';
import { createSchedule } from './create.ts';
import { findSlot } from './find-slot.ts';
import { getSchedule, listQueueSchedules } from './list.ts';
import { createBody, defaultQuery, findSlotQuery, findSlotReply, listQuery, nextQuery, nextReply, previewQuery, previewReply, schedulePage, scheduleReply, updateBody } from './queue.schema.ts';
import { removeDefault, removeSchedule } from './remove.ts';
import { updateDefault, updateSchedule } from './update.ts';

const tag = 'queue';
const pathIds = { id: { prefix: 'qs_', notFound: 'NOT_FOUND', resource: 'queue_schedule' } } as const;

const OF_WORKSPACE = ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'] as const;
const OF_CHANGE = ['WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'REVISION_CONFLICT', 'BAD_REQUEST'] as const;
const OF_SCOPE = ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'WORKSPACE_ID_REQUIRED'] as const;

const update = { permission: 'write', body: updateBody, replies: { 200: { description: 'The schedule as it is now. Posts that it placed stay where they are.', schema: scheduleReply } } } as const;
const removal = { permission: 'write', replies: { 204: { description: "It is gone. The oldest schedule left takes a default's place." } } } as const;
const next = {
  method: 'GET', tag, permission: 'read', query: nextQuery, replies: { 200: { description: 'The slot.', schema: nextReply } },
  errors: [...OF_WORKSPACE, 'ACCOUNT_NOT_FOUND', 'NO_SLOT'], handler: nextSlot,
} as const;

export const queueRoutes: readonly RouteSpec[] = [
  {
    method: 'GET', path: '/v1/queue/slots', operationId: 'listQueueSchedules', summary: 'List queue schedules, defaults first', tag, permission: 'read', paged: true, query: listQuery,
    replies: { 200: { description: 'A page of schedules.', schema: schedulePage } },
    errors: [...OF_WORKSPACE, 'INVALID_CURSOR'],
    handler: listQueueSchedules,
  },
  {
    method: 'POST', path: '/v1/queue/slots', operationId: 'createQueueSchedule', summary: 'Make a queue schedule', tag, permission: 'write', body: createBody,
    replies: { 201: { description: 'The schedule.', schema: scheduleReply, headers: ['Location'] } },
    errors: [...OF_SCOPE, 'LIMIT_REACHED'],
    handler: createSchedule,
  },
  { method: 'PUT', path: '/v1/queue/slots', operationId: 'updateDefaultQueueSchedule', summary: 'Change the default queue schedule', tag, ...update, query: defaultQuery, errors: [...OF_SCOPE, 'REVISION_CONFLICT', 'BAD_REQUEST'], handler: updateDefault },
  { method: 'DELETE', path: '/v1/queue/slots', operationId: 'deleteDefaultQueueSchedule', summary: 'Delete the default queue schedule', tag, ...removal, query: defaultQuery, errors: OF_SCOPE, handler: removeDefault },
  {
    method: 'GET', path: '/v1/queue/slots/{id}', operationId: 'getQueueSchedule', summary: 'Read a queue schedule', tag, permission: 'read', pathIds,
    replies: { 200: { description: 'The schedule.', schema: scheduleReply } },
    errors: ['WORKSPACE_ACCESS_DENIED'],
    handler: getSchedule,
  },
  { method: 'PATCH', path: '/v1/queue/slots/{id}', operationId: 'updateQueueSchedule', summary: 'Change a queue schedule', tag, ...update, pathIds, errors: OF_CHANGE, handler: updateSchedule },
  { method: 'PUT', path: '/v1/queue/slots/{id}', operationId: 'putQueueSchedule', summary: 'Change a queue schedule, as PATCH does', tag, ...update, pathIds, errors: OF_CHANGE, handler: updateSchedule },
  { method: 'DELETE', path: '/v1/queue/slots/{id}', operationId: 'deleteQueueSchedule', summary: 'Delete a queue schedule', tag, ...removal, pathIds, errors: ['WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE'], handler: removeSchedule },
  { ...next, path: '/v1/queue/next', operationId: 'getNextQueueSlot', summary: 'The next free slot of the queue' },
  { ...next, path: '/v1/queue/next-slot', operationId: 'getNextSlot', summary: 'The next free slot of the queue, by its other name' },
  {
    method: 'GET', path: '/v1/queue/preview', operationId: 'previewQueue', summary: 'The coming slots of the queue, and what took them', tag, permission: 'read', query: previewQuery,
    replies: { 200: { description: 'The slots in order of time.', schema: previewReply } },
    errors: [...OF_WORKSPACE, 'ACCOUNT_NOT_FOUND'],
    handler: previewSlots,
  },
  {
    method: 'GET', path: '/v1/queue/find-slot', operationId: 'findSlot', summary: 'The best slots for a post to these accounts', tag, permission: 'read', query: findSlotQuery,
    replies: { 200: { description: 'Best first; none where all are blocked.', schema: findSlotReply } },
    errors: [...OF_WORKSPACE, 'ACCOUNT_NOT_FOUND', 'WORKSPACE_ID_REQUIRED', 'WORKSPACE_SCOPE_CONFLICT'],
    handler: findSlot,
  },
];
