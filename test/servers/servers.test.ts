import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { MikroORM } from '@mikro-orm/postgresql';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, startTemporal, type TestPostgres } from '../support/servers.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oncepost-servers-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the embedded PostgreSQL', () => {
  let server: TestPostgres;

  beforeAll(async () => {
    server = await startPostgres({ dataDir: join(folder, 'postgres') });
  });

  afterAll(() => server.stop());

  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const orm = await MikroORM.init({ clientUrl: server.url, entities: [], discovery: { warnWhenNoEntities: false } });
    try {
      return await orm.em.getConnection().execute(sql);
    } finally {
      await orm.close(true);
    }
  }

  test('its login role owns the database and is no superuser, because row-level security must bind it', async () => {
    const [role] = await query('select rolsuper, rolbypassrls, rolinherit, rolcreaterole from pg_roles where rolname = current_user');
    expect(role).toEqual({ rolsuper: false, rolbypassrls: false, rolinherit: false, rolcreaterole: true });
  });

  test('what was committed before a kill -9 is there after it', async () => {
    await query('create table kept (id int); insert into kept values (7)');
    await server.kill();
    await server.restart();
    expect(await query('select id from kept')).toEqual([{ id: 7 }]);
  });

  test('it starts although the number in its stale pid file belongs to another process by now, and leaves that one alone', async () => {
    await server.kill();
    const file = join(folder, 'postgres', 'postmaster.pid');
    const [, ...rest] = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, [String(process.pid), ...rest].join('\n'));
    await server.restart();
    expect(await query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('the embedded Temporal server', () => {
  let server: Awaited<ReturnType<typeof startTemporal>> | null = null;

  afterEach(async () => {
    await server?.stop();
    server = null;
  });

  test('keeps its workflows over a kill -9, with search attributes and retention', async () => {
    server = await startTemporal({ dataDir: join(folder, 'temporal'), retentionDays: 3 });
    const api = `http://127.0.0.1:${server.ports.http}/api/v1/namespaces/default`;
    const started = await fetch(`${api}/workflows/kept`, { method: 'POST', body: JSON.stringify({ workflowType: { name: 'kept' }, taskQueue: { name: 'none' } }) });
    expect(started.status).toBe(200);
    await server.kill();
    await server.restart();
    const described = (await (await fetch(`${api}/workflows/kept`)).json()) as { workflowExecutionInfo: { status: string } };
    expect(described.workflowExecutionInfo.status).toBe('WORKFLOW_EXECUTION_STATUS_RUNNING');
    const namespace = (await (await fetch(api)).json()) as { config: { workflowExecutionRetentionTtl: string; customSearchAttributeAliases: object } };
    expect(namespace.config.workflowExecutionRetentionTtl).toBe('259200s');
    expect(Object.values(namespace.config.customSearchAttributeAliases).toSorted()).toEqual(['OperationId', 'OrganizationId', 'OutcomeUnknown', 'Platform', 'PostId']);
  });
});
