import { IsolationLevel } from '@mikro-orm/core';
import type { Mode } from '../contract/platforms.ts';
import type { Database, Tx } from './database.ts';
import { ALONE } from './joined-begin.ts';
import { flush, writeHeld } from './rows.ts';

/** Who a transaction acts for. Rows of anybody else do not exist for it: PostgreSQL's row-level security sees to that. */
export type Scope =
  | { role: 'tenant'; organizationId: string; mode: Mode }
  | { role: 'system' };

export const SYSTEM: Scope = { role: 'system' };

export function tenant(row: { organizationId: string; mode: Mode }): Scope {
  return { role: 'tenant', organizationId: row.organizationId, mode: row.mode };
}

/**
 * Opens a transaction in a scope: the only place in the project that does. Dying inside leaves nothing behind.
 * The role is set by the transaction's first statement and ends with it, so a pooled connection carries no scope.
 */
export async function inScope<T>(db: Database, scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> {
  return open(db, scope, work, {});
}

/** As `inScope`, for who only reads: everything is seen as it was at one moment, so that no post is shown with targets of another. */
export async function inSnapshot<T>(db: Database, scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> {
  return open(db, scope, work, { isolationLevel: IsolationLevel.REPEATABLE_READ });
}

/** A transaction of one statement, in one round trip: scope, statement and end travel together. */
export async function askAlone<T extends object>(db: Database, scope: Scope, statement: { sql: string; params: unknown[] }): Promise<T[]> {
  return open(db, scope, (tx) => tx.execute<T[]>(`${ALONE} ${statement.sql}`, statement.params), {});
}

async function open<T>(db: Database, scope: Scope, work: (tx: Tx) => Promise<T>, options: { isolationLevel?: IsolationLevel }): Promise<T> {
  return db.em.fork({ clear: true }).transactional(async (em) => {
    const tx = em as Tx;
    const org = scope.role === 'tenant' ? scope.organizationId : '';
    const mode = scope.role === 'tenant' ? scope.mode : '';
    await tx.execute(`select set_config('role', ?, true), set_config('app.org', ?, true), set_config('app.mode', ?, true)`, [`oncepost_${scope.role}`, org, mode]);
    const result = await work(tx);
    await writeHeld(tx);
    return result;
  }, options);
}

/** As `inScope`, and hands over the transaction's id, by which a lost answer of COMMIT can be asked for. */
export async function inScopeWithId<T>(db: Database, scope: Scope, work: (tx: Tx, transactionId: string) => Promise<T>): Promise<T> {
  return inScope(db, scope, async (tx) => {
    const rows = await tx.execute<{ id: string }[]>('select pg_current_xact_id()::text as id');
    return work(tx, rows[0]!.id);
  });
}

/**
 * Work inside a transaction that fails alone: what it did is undone, and what was done before stays and is written. It has a
 * unit of work of its own; a row that is held outside is read again inside, and again after it.
 */
export async function inSavepoint<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  await flush(tx);
  return tx.transactional(async (em) => {
    const own = em as Tx;
    const result = await work(own);
    await writeHeld(own);
    return result;
  }, { clear: true });
}

/** What the work would bring: all of it happens, and none of it stays. */
export async function rehearse<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const curtain = new Error('the rehearsal is over');
  let played: { result: T } | undefined;
  await inSavepoint(tx, async (own) => {
    played = { result: await work(own) };
    throw curtain;
  }).catch((error: unknown) => {
    if (error !== curtain) throw error;
  });
  return played!.result;
}
