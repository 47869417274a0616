import { afterAll, beforeAll } from '@jest/globals';
import { openDatabase, type Database } from '../../infra/db/database.ts';
import { migratedDatabase, type FreshDatabase } from './database.ts';

/** Opens a database of its own with our schema in it before the tests of a file, and removes it after them. */
export function useDatabase(take: (db: Database) => void, options: { pool: number }): void {
  let database: FreshDatabase | undefined;
  let db: Database | undefined;
  beforeAll(async () => {
    database = await migratedDatabase();
    db = await openDatabase({ url: database.url, ...options });
    take(db);
  }, 60_000);
  afterAll(async () => {
    await db?.close(true);
    await database?.release();
  });
}
