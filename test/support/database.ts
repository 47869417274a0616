import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../infra/db/database.ts';
import { startPostgres } from './servers.ts';

export interface FreshDatabase {
  url: string;
  /** The server ends with the last of its databases. */
  release(): Promise<void>;
}

interface OwnServer {
  url: string;
  stop(): Promise<void>;
}

let own: Promise<OwnServer> | undefined;
let users = 0;

/**
 * A database of its own for a test. `TEST_DATABASE_ADMIN_URL` names a running server (a role that may create databases and roles);
 * without it a server is started and shared by the tests of one file.
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  const given = process.env.TEST_DATABASE_ADMIN_URL;
  users += 1;
  const admin = given ?? (await (own ??= startOwn())).url;
  const url = new URL(admin);
  url.pathname = `/t_${randomBytes(6).toString('hex')}`;
  url.username = process.env.TEST_DATABASE_OWNER ?? url.username;
  const server = await openDatabase({ url: admin, pool: 1 });
  await server.em.getConnection().execute(`create database ${url.pathname.slice(1)} owner ${url.username}`);
  await server.close(true);
  return { url: url.href, release };
}

async function startOwn(): Promise<OwnServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'oncepost-pg-'));
  const { url, stop } = await startPostgres({ dataDir });
  return {
    url,
    async stop() {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function release(): Promise<void> {
  users -= 1;
  if (users > 0 || own === undefined) return;
  const ending = own;
  own = undefined;
  await (await ending).stop();
}
