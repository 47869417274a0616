import type { CredentialRow } from '../db/entities/credential.entity.ts';
import type { Place } from './envelope.ts';

export function credentialPlace(row: Pick<CredentialRow, 'accountId' | 'organizationId'>): Place {
  return { table: 'credential', column: 'sealed', row: row.accountId, organizationId: row.organizationId };
}
