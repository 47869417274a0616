import { defineEntity, type InferEntity } from '@mikro-orm/core';
import type { RequestProgress, StepEffect, StepState } from '../../contract/statuses.ts';
import { flag, instant, integer, json, mode, text } from './columns.ts';
import type { OperationError } from './operation.entity.ts';

export const StepEntity = defineEntity({
  name: 'Step',
  tableName: 'step',
  properties: {
    operationId: text().primary(),
    name: text().primary(),
    organizationId: text(),
    mode: mode(),
    position: integer(),
    effect: text().$type<StepEffect>(),
    required: flag(),
    state: text().$type<StepState>(),
    attempt: integer(),
    reused: flag(),
    progress: text().$type<RequestProgress>(),
    bytesSent: integer().nullable(),
    bytesReceived: integer().nullable(),
    httpStatus: integer().nullable(),
    providerId: text().nullable(),
    /** What later steps and later attempts need of it. */
    checkpoint: json<Record<string, string | number | boolean | null>>().nullable(),
    usableUntil: instant().nullable(),
    error: json<OperationError>().nullable(),
    startedAt: instant().nullable(),
    sentAt: instant().nullable(),
    finishedAt: instant().nullable(),
  },
});
export type Step = InferEntity<typeof StepEntity>;
