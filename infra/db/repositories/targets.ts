import { isId } from '../../contract/ids.ts';
import { isPlatform } from '../../contract/platforms.ts';
import type { Tx } from '../database.ts';
import { AccountEntity, type Account } from '../entities/account.entity.ts';
import { columnsOf, rowOf } from '../joined.ts';
import { WorkspaceEntity, type Workspace } from '../entities/workspace.entity.ts';

const ACCOUNT = { alias: 'a', entity: AccountEntity };

/** More accounts than any post may reach: enough to know that there are too many. */
const ACCOUNTS_READ_MAX = 1_000;

/** Where the accounts of a platform are looked for; organization-level ones are looked at everywhere. */
export interface Reach {
  /** The post's workspace where it was given. */
  workspaceId: string | null;
  scope: 'all' | readonly string[];
}

/** All accounts that a list of selectors may mean, oldest connection first. Whether the caller may use them is not decided here. */
export async function findSelectedAccounts(tx: Tx, selectors: readonly string[], reach: Reach = EVERYWHERE): Promise<Account[]> {
  const ids = selectors.filter((one) => isId('account', one));
  const workspaceIds = selectors.filter((one) => isId('workspace', one));
  const platforms = selectors.filter(isPlatform);
  const ofPlatform = clauseOf('a.platform', platforms);
  const reachable = anyOf([ofPlatform === null ? null : within(ofPlatform, reach), clauseOf('a.workspace_id', workspaceIds)]);
  const named = clauseOf('a.id', ids);
  const wanted = anyOf([named, reachable === null ? null : { sql: `a.status in ('active', 'reconnect_required') and (${reachable.sql})`, params: reachable.params }]);
  if (wanted === null) return [];
  // What is named by its id is there whatever the limit cuts off.
  const first = named === null ? '' : `(${named.sql}) desc, `;
  const rows = await tx.execute<Record<string, unknown>[]>(
    `select * from (select ${columnsOf(tx, ACCOUNT)} from account a where ${wanted.sql} order by ${first}a.connected_at, a.id limit ${ACCOUNTS_READ_MAX}) found order by a__connected_at, a__id`,
    [...wanted.params, ...(named?.params ?? [])]);
  return rows.map((row) => rowOf(tx, ACCOUNT, row)!);
}

const EVERYWHERE: Reach = { workspaceId: null, scope: 'all' };

function within({ sql, params }: Clause, { workspaceId, scope }: Reach): Clause {
  const places = workspaceId !== null ? [workspaceId] : scope;
  return places === 'all' ? { sql, params } : { sql: `${sql} and (a.workspace_id is null or a.workspace_id in (?))`, params: [...params, places] };
}

interface Clause {
  sql: string;
  params: unknown[];
}

/** Null where there is nothing to look for. */
function clauseOf(column: string, values: readonly string[]): Clause | null {
  return values.length === 0 ? null : { sql: `${column} in (?)`, params: [values] };
}

function anyOf(clauses: readonly (Clause | null)[]): Clause | null {
  const given = clauses.filter((clause) => clause !== null);
  return given.length === 0 ? null : { sql: given.map(({ sql }) => `(${sql})`).join(' or '), params: given.flatMap(({ params }) => params) };
}

/** Workspaces by id; ids of nothing are left out. */
export async function findWorkspaces(tx: Tx, ids: readonly string[]): Promise<Map<string, Workspace>> {
  const known = [...new Set(ids.filter((id) => isId('workspace', id)))];
  if (known.length === 0) return new Map();
  const rows = await tx.find(WorkspaceEntity, { id: { $in: known } });
  return new Map(rows.map((row) => [row.id, row]));
}
