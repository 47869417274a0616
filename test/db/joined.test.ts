import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDatabase, type Database } from '../../infra/db/database.ts';
import { AccountEntity } from '../../infra/db/entities/account.entity.ts';
import { CredentialEntity } from '../../infra/db/entities/credential.entity.ts';
import { columnsOf, rowOf } from '../../infra/db/joined.ts';
import { migrate } from '../../infra/db/migrate.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { account, organization } from '../support/factories.ts';
import { startPostgres, type TestPostgres } from '../support/servers.ts';

const ACCOUNT = { alias: 'a', entity: AccountEntity };
const CREDENTIAL = { alias: 'c', entity: CredentialEntity };

let folder: string;
let postgres: TestPostgres;
let db: Database;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oncepost-joined-'));
  postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  await migrate(postgres.url);
  db = await openDatabase({ url: postgres.url, pool: 2 });
}, 60_000);

afterAll(async () => {
  await db?.close(true);
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

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
