import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { instant, integer, json, mode, text } from './columns.ts';

/** What Temporal still has to be told. Written with the state change; deleted by the transaction that begins the work, or once told. */
export const OutboxEntity = defineEntity({
  name: 'Outbox',
  tableName: 'outbox',
  properties: {
    /** One row per workflow and intent: `start:<workflow id>`, `cancel:<workflow id>`, `wake:<workflow id>:<n>`. */
    id: text().primary(),
    organizationId: text(),
    mode: mode(),
    intent: text().$type<'start' | 'cancel' | 'wake'>(),
    workflow: text(),
    workflowId: text(),
    /** Of a start; null of everything else. */
    args: json<unknown>().nullable(),
    summary: text(),
    searchAttributes: json<Record<string, string | string[] | boolean>>(),
    priority: integer(),
    startAt: instant().nullable(),
    availableAt: instant(),
    attempts: integer(),
    createdAt: instant(),
  },
});
export type OutboxRow = InferEntity<typeof OutboxEntity>;
