import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { id, instant, integer, json, mode, text, type Actor } from './columns.ts';

/** What was observed, in order. One table for posts, targets and operations. */
export const TimelineEntryEntity = defineEntity({
  name: 'TimelineEntry',
  tableName: 'timeline_entry',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    at: instant(),
    /** A kind of the post's timeline, or a type of the operation's. */
    type: text(),
    postId: text().nullable(),
    targetId: text().nullable(),
    operationId: text().nullable(),
    step: text().nullable(),
    attempt: integer().nullable(),
    message: text(),
    evidenceId: text().nullable(),
    eventId: text().nullable(),
    verdictId: text().nullable(),
    actor: json<Actor>().nullable(),
    requestId: text().nullable(),
    data: json<Record<string, unknown>>(),
  },
});
export type TimelineEntry = InferEntity<typeof TimelineEntryEntity>;
