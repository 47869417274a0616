import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { id, instant, integer, json, mode, text } from './columns.ts';

export const EvidenceEntity = defineEntity({
  name: 'Evidence',
  tableName: 'evidence',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    operationId: text(),
    kind: text(),
    step: text().nullable(),
    source: text().$type<'sender' | 'probe' | 'webhook' | 'media_host' | 'operator'>(),
    conclusion: text().$type<'happened' | 'did_not_happen' | 'undetermined'>(),
    probeOrdinal: integer().nullable(),
    observedAt: instant(),
    summary: text(),
    data: json<Record<string, unknown>>(),
  },
});
export type Evidence = InferEntity<typeof EvidenceEntity>;
