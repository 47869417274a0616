import { expect, test } from '@jest/globals';
import type { Database } from '../../infra/db/database.ts';
import { askAlone, inScope, SYSTEM, tenant } from '../../infra/db/tenant.ts';
import { organization } from '../support/factories.ts';
import { useDatabase } from '../support/use-database.ts';

/* One connection, so that each transaction follows the others on it. */

let db: Database;
useDatabase((opened) => {
  db = opened;
}, { pool: 1 });

const count = () => inScope(db, SYSTEM, async (tx) => (await tx.execute<{ count: number }[]>('select count(*)::int as count from organization'))[0]!.count);

test('the first statement answers for itself, in its scope', async () => {
  const { id } = await organization({ db } as never);
  const names = () => inScope(db, tenant({ organizationId: id, mode: 'test' }), (tx) => tx.execute<{ id: string; role: string }[]>('select id, current_user as role from organization'));
  expect(await names()).toEqual([{ id, role: 'oncepost_tenant' }]);
});

test('a first statement that fails leaves nothing open, and nothing behind', async () => {
  const before = await count();
  await expect(inScope(db, SYSTEM, (tx) => tx.execute('select 1 / 0'))).rejects.toThrow(/division by zero/);
  const failing = inScope(db, SYSTEM, async (tx) => {
    await tx.execute('delete from organization');
    await tx.execute('select 1 / 0');
  });
  await expect(failing).rejects.toThrow(/division by zero/);
  expect(await count()).toBe(before);
});

test('a transaction without a statement is none, and no scope outlives its transaction', async () => {
  expect(await inScope(db, SYSTEM, async () => 'nothing')).toBe('nothing');
  await expect(inScope(db, SYSTEM, () => Promise.reject(new Error('on purpose')))).rejects.toThrow('on purpose');
  await expect(db.em.getConnection().execute('select id from organization')).rejects.toThrow(/permission denied|does not exist/);
  expect(await count()).toBeGreaterThanOrEqual(0);
});

test('a statement alone is a whole transaction: what it wrote stays, what fails leaves nothing open', async () => {
  const { id } = await organization({ db } as never);
  const alone = (sql: string, params: unknown[] = []) => askAlone<{ name: string }>(db, SYSTEM, { sql, params });
  expect(await alone('update organization set name = ? where id = ? returning name', ['alone', id])).toEqual([{ name: 'alone' }]);
  await expect(alone('select 1 / 0')).rejects.toThrow(/division by zero/);
  await expect(db.em.getConnection().execute('select id from organization')).rejects.toThrow(/permission denied|does not exist/);
  expect(await alone('select name from organization where id = ?', [id])).toEqual([{ name: 'alone' }]);
});
