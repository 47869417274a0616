import type { Tx } from './database.ts';
import { tableOf } from './joined.ts';
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
    params: rows.flatMap((one) => columns.map((column) => stored(column, (one as Record<string, unknown>)[column.property]))),
  };
}

/** As the driver takes it. What is left away is null, as for the ORM. */
function stored({ isJson }: { isJson: boolean }, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return isJson ? JSON.stringify(value) : value;
}
