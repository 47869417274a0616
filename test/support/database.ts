import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../infra/db/database.ts';
import { startPostgres } from './servers.ts';

/**
 * A database of its own for a test file. `TEST_DATABASE_ADMIN_URL` names a running server (a role that may create databases);
 * without it a server is started for this test process and ends with it.
 */
export async function freshDatabase(): Promise<string> {
  const admin = process.env.TEST_DATABASE_ADMIN_URL ?? (await ownServer());
  const name = `t_${randomBytes(6).toString('hex')}`;
  const server = await openDatabase({ url: admin, pool: 1 });
  const owner = process.env.TEST_DATABASE_OWNER ?? new URL(admin).username;
  await server.em.getConnection().execute(`create database ${name} owner ${owner}`);
  await server.close(true);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  url.username = owner;
  return url.href;
}

let own: Promise<string> | undefined;

function ownServer(): Promise<string> {
  own ??= (async () => {
    const { url, stop } = await startPostgres({ dataDir: await mkdtemp(join(tmpdir(), 'oncepost-pg-')) });
    afterTests.push(stop);
    return url;
  })();
  return own;
}

/** Called by whoever started an API, when its tests are over. */
const afterTests: (() => Promise<void>)[] = [];

export async function stopDatabases(): Promise<void> {
  await Promise.all(afterTests.splice(0).map((stop) => stop()));
  own = undefined;
}
