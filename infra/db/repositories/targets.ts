import { isId } from '../../contract/ids.ts';
import { isPlatform } from '../../contract/platforms.ts';
import type { Tx } from '../database.ts';
import { AccountEntity, type Account } from '../entities/account.entity.ts';
import { columnsOf, rowOf } from '../joined.ts';
import { WorkspaceEntity, type Workspace } from '../entities/workspace.entity.ts';

const ACCOUNT = { alias: 'a', entity: AccountEntity };

/** More accounts than any post may reach: enough to know that there are too many. */
const ACCOUNTS_READ_MAX = 1_000;

/** All accounts that a list of selectors may mean, oldest connection first. Whether the caller may use them is not decided here. */
export async function findSelectedAccounts(tx: Tx, selectors: readonly string[]): Promise<Account[]> {
  const ids = selectors.filter((one) => isId('account', one));
  const workspaceIds = selectors.filter((one) => isId('workspace', one));
  const platforms = selectors.filter(isPlatform);
  const reachable = anyOf([clauseOf('a.platform', platforms), clauseOf('a.workspace_id', workspaceIds)]);
  const wanted = anyOf([clauseOf('a.id', ids), reachable === null ? null : { sql: `a.status in ('active', 'reconnect_required') and (${reachable.sql})`, params: reachable.params }]);
  if (wanted === null) return [];
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, ACCOUNT)} from account a where ${wanted.sql} order by a.connected_at, a.id limit ${ACCOUNTS_READ_MAX}`, wanted.params);
  return rows.map((row) => rowOf(tx, ACCOUNT, row)!);
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
