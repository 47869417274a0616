import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { bytes, flag, id, instant, mode, text, texts } from './columns.ts';

/** Only a keyed digest of the secret is stored. */
export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    name: text().nullable(),
    digest: bytes(),
    pepperId: text(),
    start: text(),
    last4: text(),
    permissions: texts(),
    /** null = all workspaces. */
    workspaceScope: texts().nullable(),
    enabled: flag(),
    expiresAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type ApiKey = InferEntity<typeof ApiKeyEntity>;
