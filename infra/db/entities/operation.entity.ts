import { defineEntity, type InferEntity } from '@mikro-orm/core';
import type { Platform } from '../../contract/platforms.ts';
import type { OperationKind, OperationStatus, Probing, SettledBy } from '../../contract/statuses.ts';
import { flag, id, instant, integer, json, mode, text, type Actor } from './columns.ts';
import type { Warning } from './target.entity.ts';

export interface OperationError {
  code: string;
  message: string;
  platform_code: string | null;
  platform_message: string | null;
  http_status: number | null;
  step: string | null;
  retryable: boolean;
  retry_at: string | null;
}

export interface OperationResult {
  platform_post_id: string | null;
  url: string | null;
  items: { step: string; platform_post_id: string | null; url: string | null }[];
}

/** One provider mutation, whoever asked for it. This row is the authority on what happened, not Temporal's bookkeeping. */
export const OperationEntity = defineEntity({
  name: 'Operation',
  tableName: 'operation',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    kind: text().$type<OperationKind>(),
    action: text().nullable(),
    status: text().$type<OperationStatus>(),
    revision: integer(),
    platform: text().$type<Platform>(),
    accountId: text(),
    workspaceId: text().nullable(),
    subjectType: text(),
    subjectId: text(),
    postId: text().nullable(),
    targetId: text().nullable(),
    attempt: integer(),
    recipient: text(),
    previousOperationId: text().nullable(),
    /** What is serialised: at most one open operation per account and object. */
    objectKey: text(),
    partial: flag(),
    warnings: json<Warning[]>(),
    /** The claim in force: who may write this step's request, and until when. */
    claimToken: text().nullable(),
    claimStep: text().nullable(),
    claimDeadline: instant().nullable(),
    claimedAt: instant().nullable(),
    /** The answers of read and private steps that failed in a row, for the length of the next wait. */
    failuresInARow: integer().fieldName('failures_in_a_row'),
    /** The code it would end with if its patience ended now. */
    heldBy: text().nullable(),
    refreshes: integer(),
    nextProbeAt: instant().nullable(),
    lastProbeAt: instant().nullable(),
    probeCount: integer(),
    probing: text().$type<Probing>(),
    absentReads: integer(),
    absentSince: instant().nullable(),
    settledBy: text().$type<SettledBy>().nullable(),
    error: json<OperationError>().nullable(),
    result: json<OperationResult>().nullable(),
    requestDigest: text().nullable(),
    workflowId: text(),
    runId: text().nullable(),
    requestId: text().nullable(),
    createdBy: json<Actor>(),
    eventSeq: integer(),
    createdAt: instant(),
    /** When its patience began: acceptance, or the due time's begin. */
    beganAt: instant(),
    sentAt: instant().nullable(),
    settledAt: instant().nullable(),
    unknownSince: instant().nullable(),
    updatedAt: instant(),
  },
});
export type Operation = InferEntity<typeof OperationEntity>;
