import { expect, test } from '@jest/globals';
import type { Database } from '../../infra/db/database.ts';
import { AccountEntity } from '../../infra/db/entities/account.entity.ts';
import { CredentialEntity } from '../../infra/db/entities/credential.entity.ts';
import { columnsOf, rowOf } from '../../infra/db/joined.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { account, organization } from '../support/factories.ts';
import { useDatabase } from '../support/use-database.ts';

const ACCOUNT = { alias: 'a', entity: AccountEntity };
const CREDENTIAL = { alias: 'c', entity: CredentialEntity };

let db: Database;
useDatabase((opened) => {
  db = opened;
}, { pool: 2 });

async function joined(id: string) {
  return inScope(db, SYSTEM, async (tx) => {
    const [row] = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, ACCOUNT, CREDENTIAL)} from account a left join credential c on c.account_id = a.id where a.id = ?`, [id]);
    return { account: rowOf(tx, ACCOUNT, row!), credential: rowOf(tx, CREDENTIAL, row!) };
  });
}

test('a joined row has the values that the ORM reads, whatever their type', async () => {
  const store = { db } as never;
  const { id: organizationId } = await organization(store);
  const { id } = await account(store, { organizationId, scopes: ['tweet.write', 'with "quotes", and commas'], metadata: { characters: 500, name: 'ü', verified: true, plan: null }, dailyBudget: 5, nextAllowedAt: new Date('2026-11-21T10:00:00.123Z') });
  await inScope(db, SYSTEM, (tx) => tx.insert(CredentialEntity, { accountId: id, organizationId, mode: 'test', generation: 3, refreshesLost: 0, sealed: Buffer.from([0, 1, 255]), updatedAt: new Date() }));
  const byOrm = await inScope(db, SYSTEM, async (tx) => ({ account: { ...(await tx.findOneOrFail(AccountEntity, { id })) }, credential: { ...(await tx.findOneOrFail(CredentialEntity, { accountId: id })) } }));
  const { account: joinedAccount, credential } = await joined(id);
  expect(joinedAccount).toEqual(byOrm.account);
  expect({ ...credential, sealed: [...credential!.sealed] }).toEqual({ ...byOrm.credential, sealed: [...byOrm.credential.sealed] });
});

test('an outer join that found nothing gives null', async () => {
  const store = { db } as never;
  const { id: organizationId } = await organization(store);
  const { id } = await account(store, { organizationId });
  expect((await joined(id)).credential).toBeNull();
});
