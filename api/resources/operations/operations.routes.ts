import { OPERATION_WAIT_DEFAULT_SECONDS, OPERATION_WAIT_MAX_SECONDS } from '../../../infra/contract/limits.ts';
import type { RouteSpec } from '../../route.ts';
import { list, summary } from './list.ts';
import { listOperationsQuery, operationsSummaryQuery, reconcileTargetBody, verdictBody } from './operations.schema.ts';
import { probe } from './probe.ts';
import { evidence, read, request, timeline, verdicts } from './read.ts';
import { reconcileTarget, replayReconciled } from './reconcile-target.ts';
import { entryPageSchema, evidencePageSchema, operationPageSchema, operationSchema, reconciledSchema, requestSchema, summarySchema, verdictPageSchema } from './reply-schema.ts';
import { replayOperation } from './show.ts';
import { verdict } from './verdict.ts';

const tag = 'operations';
const pathIds = { id: { prefix: 'op_', notFound: 'NOT_FOUND', resource: 'operation' } } as const;
const ofOne = { tag, pathIds, permission: 'read', method: 'GET', errors: ['WORKSPACE_ACCESS_DENIED'] } as const;

export const operationRoutes: readonly RouteSpec[] = [
  {
    method: 'GET', path: '/v1/operations', operationId: 'listOperations', summary: 'List operations', tag, permission: 'read',
    paged: true, query: listOperationsQuery,
    replies: { 200: { description: 'A page of operations, newest first unless sorted otherwise.', schema: operationPageSchema } },
    errors: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: list,
  },
  {
    method: 'GET', path: '/v1/operations/summary', operationId: 'summarizeOperations', summary: 'Count operations', tag, permission: 'read',
    query: operationsSummaryQuery,
    replies: { 200: { description: 'Counts under the same filters.', schema: summarySchema } },
    errors: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: summary,
  },
  {
    ...ofOne, path: '/v1/operations/{id}', operationId: 'getOperation', summary: 'Read an operation',
    replies: { 200: { description: 'The operation with its steps, newest timeline entries and newest evidence.', schema: operationSchema } },
    handler: read,
  },
  {
    ...ofOne, path: '/v1/operations/{id}/timeline', operationId: 'listOperationTimeline', summary: 'Read what was observed, in order', paged: true,
    replies: { 200: { description: 'A page of entries, oldest first.', schema: entryPageSchema } },
    handler: timeline,
  },
  {
    ...ofOne, path: '/v1/operations/{id}/evidence', operationId: 'listOperationEvidence', summary: 'Read the evidence', paged: true,
    replies: { 200: { description: 'A page of evidence, newest first.', schema: evidencePageSchema } },
    handler: evidence,
  },
  {
    ...ofOne, path: '/v1/operations/{id}/request', operationId: 'getOperationRequest', summary: 'Read what was asked of the platform',
    replies: { 200: { description: 'Content as it was frozen for sending.', schema: requestSchema } },
    handler: request,
  },
  {
    ...ofOne, path: '/v1/operations/{id}/verdicts', operationId: 'listOperationVerdicts', summary: 'List the verdicts on an operation', paged: true,
    replies: { 200: { description: 'A page of verdicts, oldest first.', schema: verdictPageSchema } },
    handler: verdicts,
  },
  {
    method: 'POST', path: '/v1/operations/{id}/probe', operationId: 'probeOperation', summary: 'Read the platform now', tag, pathIds, permission: 'reconcile',
    wait: { maxSeconds: OPERATION_WAIT_MAX_SECONDS, defaultSeconds: OPERATION_WAIT_DEFAULT_SECONDS },
    replies: {
      200: { description: 'The read has ended.', schema: operationSchema, headers: ['Preference-Applied'] },
      202: { description: 'The read is under way.', schema: operationSchema, headers: ['Location', 'Preference-Applied'] },
    },
    errors: ['WORKSPACE_ACCESS_DENIED', 'OPERATION_NOT_UNKNOWN', 'PROBE_UNAVAILABLE'],
    replay: replayOperation,
    handler: probe,
  },
  {
    method: 'POST', path: '/v1/operations/{id}/verdict', operationId: 'giveVerdict', summary: 'Decide on an unknown outcome', tag, pathIds, permission: 'reconcile',
    body: verdictBody,
    replies: { 200: { description: 'The operation, settled.', schema: operationSchema } },
    errors: ['WORKSPACE_ACCESS_DENIED', 'OPERATION_NOT_UNKNOWN', 'VERDICT_CONFLICT'],
    replay: replayOperation,
    handler: verdict,
  },
  {
    method: 'POST', path: '/v1/posts/{id}/targets/{target_id}/reconcile', operationId: 'reconcileTarget', summary: "Decide on a target's unknown outcome", tag, permission: 'reconcile',
    pathIds: { id: { prefix: 'post_', notFound: 'POST_NOT_FOUND', resource: 'post' }, target_id: { prefix: 'pt_', notFound: 'TARGET_NOT_FOUND', resource: 'target' } },
    body: reconcileTargetBody,
    replies: { 200: { description: 'What became of it.', schema: reconciledSchema } },
    errors: ['WORKSPACE_ACCESS_DENIED', 'OPERATION_NOT_UNKNOWN', 'VERDICT_CONFLICT'],
    replay: replayReconciled,
    handler: reconcileTarget,
  },
];
