import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../infra/contract/ids.ts';
import type { Tx } from '../../infra/db/database.ts';
import { WorkspaceEntity, type Workspace } from '../../infra/db/entities/workspace.entity.ts';
import { add, hold } from '../../infra/db/rows.ts';
import { inSavepoint, inScope, rehearse, SYSTEM, tenant } from '../../infra/db/tenant.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { organization, workspace } from '../support/factories.ts';

let api: TestApi;
let organizationId: string;

beforeAll(async () => {
  api = await startApi();
  organizationId = (await organization(api.infra)).id;
});
afterAll(() => api.close());

const scoped = <T>(work: (tx: Tx) => Promise<T>) => inScope(api.infra.db, tenant({ organizationId, mode: 'test' }), work);
const addWorkspace = (tx: Tx, name: string) => add(tx, WorkspaceEntity, fresh(name) as Workspace);
const fresh = (name: string) => ({ id: newId('workspace'), organizationId, name, slug: newId('request'), status: 'active', createdAt: new Date(), updatedAt: new Date() });
const namesOf = (tx: Tx, prefix: string) => tx.execute<{ name: string }[]>(`select name from workspace where name like ? order by name`, [`${prefix}%`]).then((rows) => rows.map((row) => row.name));
const stored = (prefix: string) => inScope(api.infra.db, SYSTEM, (tx) => namesOf(tx, prefix));
const refused = new Error('refused');
const failing = async (tx: Tx, work: (own: Tx) => Promise<void>) => {
  await expect(inSavepoint(tx, async (own) => {
    await work(own);
    throw refused;
  })).rejects.toBe(refused);
};

test('what fails is undone, what was before and after it stays, and each sees what stayed', async () => {
  const seen = await scoped(async (tx) => {
    addWorkspace(tx, 'kept 1');
    const views = [await inSavepoint(tx, async (own) => {
      addWorkspace(own, 'kept 2');
      own.persist(own.create(WorkspaceEntity, fresh('kept 3') as Workspace));
      return namesOf(own, 'kept');
    })];
    await failing(tx, async (own) => {
      addWorkspace(own, 'kept not');
      own.persist(own.create(WorkspaceEntity, fresh('kept not by the ORM') as Workspace));
      await own.flush();
    });
    views.push(await inSavepoint(tx, (own) => namesOf(own, 'kept')));
    addWorkspace(tx, 'kept 4');
    return views;
  });
  expect(seen).toEqual([['kept 1'], ['kept 1', 'kept 2', 'kept 3']]);
  expect(await stored('kept')).toEqual(['kept 1', 'kept 2', 'kept 3', 'kept 4']);
});

test('a row that the work changed and did not write is as it was, and one held outside is written afterwards', async () => {
  const { id } = await workspace(api.infra, { organizationId, name: 'held' });
  await scoped(async (tx) => {
    const read = async (own: Tx) => hold(own, WorkspaceEntity, { ...(await own.findOneOrFail(WorkspaceEntity, { id })) } as Workspace);
    const outside = await read(tx);
    await failing(tx, async (own) => {
      (await read(own)).name = 'held and lost';
    });
    expect(await namesOf(tx, 'held')).toEqual(['held']);
    outside.name = 'held outside';
  });
  expect(await stored('held')).toEqual(['held outside']);
});

test('the scope of the transaction holds inside, after a failure, and one level deeper', async () => {
  const foreign = await workspace(api.infra, { organizationId: (await organization(api.infra)).id, name: 'foreign' });
  await scoped(async (tx) => {
    const sees = async (own: Tx) => (await own.execute<unknown[]>('select 1 from workspace where id = ?', [foreign.id])).length;
    await failing(tx, async (own) => {
      await own.execute('select 1 from workspace where id = ?', [foreign.id]);
      await failing(own, async (deeper) => expect(await sees(deeper)).toBe(0));
    });
    expect(await inSavepoint(tx, sees)).toBe(0);
    expect(await sees(tx)).toBe(0);
  });
});

test('a statement that fails inside leaves the transaction usable', async () => {
  await scoped(async (tx) => {
    await expect(inSavepoint(tx, (own) => own.execute('select 1 / 0'))).rejects.toThrow('division by zero');
    addWorkspace(tx, 'after a fault');
  });
  expect(await stored('after a fault')).toEqual(['after a fault']);
});

test('a rehearsal brings its result and keeps nothing, whatever was good in it', async () => {
  const result = await scoped(async (tx) => {
    addWorkspace(tx, 'stage 1');
    return rehearse(tx, async (own) => {
      await inSavepoint(own, async (deeper) => void addWorkspace(deeper, 'stage 2'));
      await failing(own, async (deeper) => void addWorkspace(deeper, 'stage 3'));
      return namesOf(own, 'stage');
    });
  });
  expect([result, await stored('stage')]).toEqual([['stage 1', 'stage 2'], ['stage 1']]);
  await expect(scoped((tx) => rehearse(tx, () => Promise.reject(refused)))).rejects.toBe(refused);
});
