import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { bytes, instant, integer, mode, text } from './columns.ts';

/** The sealed credential of an account. One row per account; `generation` counts its renewals. */
export const CredentialEntity = defineEntity({
  name: 'Credential',
  tableName: 'credential',
  properties: {
    accountId: text().primary(),
    organizationId: text(),
    mode: mode(),
    generation: integer(),
    sealed: bytes(),
    expiresAt: instant().nullable(),
    updatedAt: instant(),
  },
});
export type CredentialRow = InferEntity<typeof CredentialEntity>;
