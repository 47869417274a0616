import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { id, instant, integer, json, mode, text } from './columns.ts';

export const VerdictEntity = defineEntity({
  name: 'Verdict',
  tableName: 'verdict',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    operationId: text(),
    outcome: text().$type<'published' | 'not_published' | 'happened' | 'did_not_happen'>(),
    platformPostId: text().nullable(),
    url: text().nullable(),
    reason: text(),
    state: text().$type<'applied' | 'superseded' | 'contradicted'>(),
    actor: json<{ type: 'user' | 'api_key'; id: string; name: string | null }>(),
    requestId: text().nullable(),
    expectedRevision: integer(),
    contradictedBy: text().nullable(),
    createdAt: instant(),
    appliedAt: instant().nullable(),
  },
});
export type Verdict = InferEntity<typeof VerdictEntity>;
