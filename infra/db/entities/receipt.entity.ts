import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { bytes, id, instant, integer, mode, text, texts } from './columns.ts';

/** The stored reply of a keyed mutation. */
export const ReceiptEntity = defineEntity({
  name: 'Receipt',
  tableName: 'receipt',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    lineage: text(),
    key: text(),
    route: bytes(),
    fingerprint: bytes(),
    status: integer(),
    contentType: text().nullable(),
    location: text().nullable(),
    etag: text().nullable(),
    /** The body, compressed and sealed; null = empty. */
    sealed: bytes().nullable(),
    workspaceIds: texts(),
    requestId: text(),
    createdAt: instant(),
  },
});
export type Receipt = InferEntity<typeof ReceiptEntity>;
