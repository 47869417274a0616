import { MIGRATIONS } from './migrations.ts';
import type { Pool } from './pg.ts';

/** Any number, as long as only this program uses it. */
const MIGRATION_LOCK = 7_201_438_105;

/** Brings the schema `sandbox` up to date. Each version is one transaction, so a crash leaves a whole version or none of it. */
export async function migrate(pool: Pool): Promise<void> {
  const connection = await pool.connect();
  try {
    await connection.query({ text: 'select pg_advisory_lock($1)', values: [MIGRATION_LOCK] });
    await connection.query('create schema if not exists sandbox');
    await connection.query('create table if not exists sandbox.migration (version integer primary key, at timestamptz not null default now())');
    const { rows } = await connection.query<{ version: number }>('select version from sandbox.migration');
    const done = new Set(rows.map((row) => row.version));
    for (const [index, sql] of MIGRATIONS.entries()) {
      if (done.has(index + 1)) continue;
      await connection.query(`begin; ${sql}; insert into sandbox.migration (version) values (${index + 1}); commit`);
    }
    await connection.query({ text: 'select pg_advisory_unlock($1)', values: [MIGRATION_LOCK] });
    connection.release();
  } catch (error) {
    // The lock belongs to the connection, so a failed one is closed and not given back.
    connection.release(true);
    throw error;
  }
}
