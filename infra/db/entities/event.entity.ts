import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { id, instant, integer, json, mode, text } from './columns.ts';

/** Written in the transaction of the state change: no change without its event, no event without its change. */
export const EventEntity = defineEntity({
  name: 'Event',
  tableName: 'event',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    workspaceId: text().nullable(),
    event: text(),
    subjectType: text(),
    subjectId: text(),
    sequence: integer(),
    data: json<Record<string, unknown>>(),
    createdAt: instant(),
  },
});
export type Event = InferEntity<typeof EventEntity>;
