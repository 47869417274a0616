import type { Tx } from './database.ts';
import { tableOf, type Column } from './joined.ts';
import type { EntityName } from '@mikro-orm/core';

/** A writing statement with its parameters. */
export interface Statement {
  sql: string;
  params: unknown[];
}

/**
 * Carries out several writing statements as one, in one round trip. They see the rows as they were before it, so none of
 * them may depend on another, and none may write a row that another writes.
 */
export async function writeTogether(tx: Tx, statements: readonly Statement[]): Promise<void> {
  if (statements.length === 0) return;
  const parts = statements.map(({ sql }, index) => `w${index} as (${sql})`);
  await tx.execute(`with ${parts.join(', ')} select`, statements.flatMap(({ params }) => params));
}

/** One statement for all rows. `onConflict` names the key, and the columns that then take the new row's values. */
export function insertOf<T extends object>(tx: Tx, entity: EntityName<T>, rows: readonly T[], onConflict?: { key: string; takes: readonly (keyof T & string)[] }): Statement {
  const { name, columns } = tableOf(tx, { alias: '', entity });
  const row = `(${columns.map(() => '?').join(', ')})`;
  const takes = onConflict?.takes.map((property) => columns.find((one) => one.property === property)!.name) ?? [];
  const conflict = onConflict === undefined ? '' : ` on conflict (${onConflict.key}) do update set ${takes.map((one) => `"${one}" = excluded."${one}"`).join(', ')}`;
  return {
    sql: `insert into "${name}" (${columns.map((one) => `"${one.name}"`).join(', ')}) values ${rows.map(() => row).join(', ')}${conflict}`,
    params: rows.flatMap((one) => storedRow(columns, one)),
  };
}

/** `before` is what `storedRow` gave. Null where nothing differs. The row is found by its primary key, which never changes. */
function updateOf(tx: Tx, { entity, row, before }: Held): Statement | null {
  const { name, columns } = tableOf(tx, { alias: '', entity });
  const after = storedRow(columns, row);
  const indexes = columns.flatMap((_, index) => (after[index] === before[index] ? [] : [index]));
  if (indexes.length === 0) return null;
  const key = columns.flatMap(({ isKey }, index) => (isKey ? [index] : []));
  const named = (index: number) => `"${columns[index]!.name}" = ?`;
  return { sql: `update "${name}" set ${indexes.map(named).join(', ')} where ${key.map(named).join(' and ')}`, params: [...indexes, ...key].map((index) => after[index]) };
}

interface Held {
  entity: EntityName<any>;
  row: object;
  before: unknown[];
}

/** What a transaction holds to write: rows that it read under a lock, by key, and new ones, by table. */
interface Holding {
  read: Map<string, Held>;
  added: Map<EntityName<any>, object[]>;
}

const holdings = new WeakMap<Tx, Holding>();

function holdingOf(tx: Tx): Holding {
  let holding = holdings.get(tx);
  if (holding === undefined) holdings.set(tx, (holding = { read: new Map(), added: new Map() }));
  return holding;
}

/**
 * Takes a row that was read under a lock: what becomes different in it is written when the transaction ends. Who reads
 * the same row again gets the object that is held already. The unit of work of the ORM does the same for several times the price.
 */
export function hold<T extends object>(tx: Tx, entity: EntityName<T>, row: T): T {
  const { name, columns } = tableOf(tx, { alias: '', entity });
  const { read } = holdingOf(tx);
  const before = storedRow(columns, row);
  const id = `${name} ${columns.flatMap(({ isKey }, index) => (isKey ? [before[index]] : [])).join(' ')}`;
  const held = read.get(id);
  if (held !== undefined) return held.row as T;
  read.set(id, { entity, row, before });
  return row;
}

/** A row as it is made: what may be null may be left away. */
type Fresh<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & { [K in keyof T as null extends T[K] ? K : never]?: T[K] };

/** Takes a new row: it is inserted, as it is then, when the transaction ends. */
export function add<T extends object>(tx: Tx, entity: EntityName<T>, fresh: Fresh<T>): T {
  const { columns } = tableOf(tx, { alias: '', entity });
  const row = Object.fromEntries(columns.map(({ property }) => [property, (fresh as Record<string, unknown>)[property] ?? null])) as T;
  const { added } = holdingOf(tx);
  const rows = added.get(entity);
  if (rows === undefined) added.set(entity, [row]);
  else rows.push(row);
  return row;
}

/** Writes in one statement what is held. The end of `inScope()` does it; earlier it is needed only by who reads it back. */
export async function writeHeld(tx: Tx): Promise<void> {
  const { read, added } = holdingOf(tx);
  const updates = [...read.values()].flatMap((held) => updateOf(tx, held) ?? []);
  const inserts = [...added].map(([entity, rows]) => insertOf(tx, entity, rows));
  await writeTogether(tx, [...updates, ...inserts]);
  for (const held of read.values()) held.before = storedRow(tableOf(tx, { alias: '', entity: held.entity }).columns, held.row);
  const written = [...added];
  added.clear();
  for (const [entity, rows] of written) for (const row of rows) hold(tx, entity, row);
}

/** What is held, and what the unit of work of the ORM has. */
export async function flush(tx: Tx): Promise<void> {
  await writeHeld(tx);
  await tx.flush();
}

function storedRow(columns: readonly Column[], row: object): unknown[] {
  return columns.map((column) => stored(column, (row as Record<string, unknown>)[column.property]));
}

/** As the driver takes it. What is left away is null, as for the ORM. */
function stored({ isJson }: Column, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return isJson ? JSON.stringify(value) : value;
}
