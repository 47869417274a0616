import type { Position } from '../infra/db/keyset.ts';
import { pageOf } from '../infra/db/keyset.ts';
import type { Call, ListWindow, Reply, RouteSpec } from './route.ts';
import type { Context } from './state.ts';

/** What a cursor is bound to: everything that decides which rows a list holds, but neither the page's size nor the credential's scope. */
export function cursorBinding(ctx: Context): string {
  const { caller, route, pathParams } = ctx.state;
  const filters = [...ctx.state.search].filter(([name, value]) => name !== 'cursor' && name !== 'limit' && value !== '');
  const parameters = Object.entries(pathParams);
  return JSON.stringify([caller!.organizationId, caller!.mode, (route as RouteSpec).path, byName(parameters), byName(filters)]);
}

function byName(pairs: [string, string][]): [string, string][] {
  return pairs.toSorted(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0));
}

export interface Clause {
  sql: string;
  params: unknown[];
}

/**
 * The one way to read a part of a list: `where ${clause.sql} ${clause.order}` with one row more than asked for.
 * `time` and `id` are SQL expressions of the list's own query, never input.
 */
export function windowClause(window: ListWindow, columns: { time: string; id: string }): Clause & { order: string } {
  const { time, id } = columns;
  const parts: Clause[] = [
    ...(window.from === null ? [] : [{ sql: `${time} >= ?`, params: [window.from] }]),
    ...(window.to === null ? [] : [{ sql: `${time} <= ?`, params: [window.to] }]),
    ...(window.after === null ? [] : [{ sql: `(${time}, ${id}) < (?, ?)`, params: [window.after.at, window.after.id] }]),
  ];
  return { ...allOf(parts), order: `order by ${time} desc, ${id} desc limit ${window.limit + 1}` };
}

export function allOf(clauses: readonly Clause[]): Clause {
  return clauses.length === 0 ? { sql: 'true', params: [] } : { sql: clauses.map((one) => `(${one.sql})`).join(' and '), params: clauses.flatMap((one) => one.params) };
}

/** As `windowClause`, for lists in order of name. `from` and `to` compare the time. */
export function nameWindow(window: ListWindow, columns: { name: string; time: string; id: string }): Clause & { order: string } {
  const { name, time, id } = columns;
  const range = windowClause({ ...window, after: null }, { time, id });
  const after = window.after === null ? [] : [{ sql: `(${name}, ${id}) > (?, ?)`, params: [window.after.name, window.after.id] }];
  return { ...allOf([range, ...after]), order: `order by ${name}, ${id} limit ${window.limit + 1}` };
}

/** The pattern of a substring; what a pattern gives a meaning of its own is taken by the letter. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** The reply of a list. `rows` hold one more than the page where there is a next one; `more` stands beside the envelope, e.g. `total`. */
export async function pageReply<T>(call: Call, list: { rows: T[]; position: (row: T) => Position; present: (rows: T[]) => unknown[] | Promise<unknown[]>; more?: Record<string, unknown> }): Promise<Reply> {
  const page = pageOf(list.rows, call.window!.limit, list.position);
  const data = await list.present(page.rows);
  const next_cursor = page.next === null ? null : call.infra.cursors.encode(page.next, call.cursorBinding);
  return { status: 200, body: { data, next_cursor, has_more: next_cursor !== null, ...list.more } };
}
