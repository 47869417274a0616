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
    /** Claim of the one refresh that may run; nobody else asks the platform before this time. */
    refreshingUntil: instant().nullable(),
    /** Refreshes in a row whose answer was lost. */
    refreshesLost: integer(),
    updatedAt: instant(),
  },
});
export type CredentialRow = InferEntity<typeof CredentialEntity>;
