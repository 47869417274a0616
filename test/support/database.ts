import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../infra/db/migrate.ts';
import { openDatabase } from '../../infra/db/database.ts';
import { startPostgres } from './servers.ts';

export interface FreshDatabase {
  url: string;
  release(): Promise<void>;
}

/**
 * An empty database of its own for a test: on a server started for it, or, where that is too slow for daily work, on the one
 * that `TEST_DATABASE_ADMIN_URL` names (a role that may create databases; they stay, and belong to `TEST_DATABASE_OWNER`).
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  const admin = process.env.TEST_DATABASE_ADMIN_URL;
  return admin === undefined ? onServerOfItsOwn() : onGivenServer(admin);
}

/** The same with our schema in it. */
export async function migratedDatabase(): Promise<FreshDatabase> {
  const database = await freshDatabase();
  try {
    await migrate(database.url);
    return database;
  } catch (error) {
    await database.release();
    throw error;
  }
}

async function onServerOfItsOwn(): Promise<FreshDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'oncepost-pg-'));
  const { url, stop } = await startPostgres({ dataDir: join(folder, 'data') });
  return {
    url,
    async release() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function onGivenServer(admin: string): Promise<FreshDatabase> {
  const url = new URL(admin);
  url.pathname = `/t_${randomBytes(6).toString('hex')}`;
  url.username = process.env.TEST_DATABASE_OWNER ?? url.username;
  const server = await openDatabase({ url: admin, pool: 1 });
  await server.em.getConnection().execute(`create database ${url.pathname.slice(1)} owner ${url.username}`);
  await server.close(true);
  return { url: url.href, release: async () => {} };
}
