import type { EntityName, EntityProperty } from '@mikro-orm/core';
import type { Tx } from './database.ts';

/** A table of a join: its columns travel under a prefix of their own, so that equal names do not meet. */
export interface Part<T extends object> {
  alias: string;
  entity: EntityName<T>;
}

export interface Column {
  name: string;
  label: string;
  property: string;
  isTime: boolean;
  isJson: boolean;
  isKey: boolean;
}

export interface Table {
  name: string;
  columns: Column[];
}

const known = new Map<string, Table>();

/** `o."status" as "o__status", …` for every column of these tables. */
export function columnsOf(tx: Tx, ...parts: Part<any>[]): string {
  return parts.flatMap((part) => tableOf(tx, part).columns.map(({ name, label }) => `${part.alias}."${name}" as "${label}"`)).join(', ');
}

/**
 * What one table gave to a joined row, with the names and types of its entity; null where an outer join found none.
 * The object is not managed: it is for reading on the path of every post, where each query of the ORM is felt.
 */
export function rowOf<T extends object>(tx: Tx, part: Part<T>, joined: Record<string, unknown>): T | null {
  const own: Record<string, unknown> = {};
  for (const { label, property, isTime, isKey } of tableOf(tx, part).columns) {
    const value = joined[label];
    if (isKey && value === null) return null;
    own[property] = isTime && value !== null ? new Date(value as string) : value;
  }
  return own as T;
}

/** Name and columns of an entity's table, asked of the ORM once. */
export function tableOf(tx: Tx, { alias, entity }: Part<any>): Table {
  const meta = tx.getMetadata().get(entity);
  const id = `${alias} ${meta.tableName}`;
  let table = known.get(id);
  if (table === undefined) known.set(id, (table = { name: meta.tableName, columns: (meta.props as EntityProperty[]).map((one) => columnOf(alias, one)) }));
  return table;
}

function columnOf(alias: string, { name, fieldNames, columnTypes, primary }: EntityProperty): Column {
  return { name: fieldNames[0]!, label: `${alias}__${fieldNames[0]!}`, property: name, isTime: columnTypes[0]!.startsWith('timestamptz'), isJson: columnTypes[0] === 'jsonb', isKey: primary === true };
}
