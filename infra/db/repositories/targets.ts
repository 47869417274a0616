import { isId } from '../../contract/ids.ts';
import { isPlatform } from '../../contract/platforms.ts';
import type { Tx } from '../database.ts';
import { AccountEntity, type Account } from '../entities/account.entity.ts';
import { WorkspaceEntity, type Workspace } from '../entities/workspace.entity.ts';

/** More accounts than any post may reach: enough to know that there are too many. */
const ACCOUNTS_READ_MAX = 1_000;

/** All accounts that a list of selectors may mean, oldest connection first. Whether the caller may use them is not decided here. */
export async function findSelectedAccounts(tx: Tx, selectors: readonly string[]): Promise<Account[]> {
  const ids = selectors.filter((one) => isId('account', one));
  const workspaceIds = selectors.filter((one) => isId('workspace', one));
  const platforms = selectors.filter(isPlatform);
  const reachable = [...(platforms.length === 0 ? [] : [{ platform: { $in: platforms } }]), ...(workspaceIds.length === 0 ? [] : [{ workspaceId: { $in: workspaceIds } }])];
  const ways = [
    ...(ids.length === 0 ? [] : [{ id: { $in: ids } }]),
    ...(reachable.length === 0 ? [] : [{ status: { $in: ['active', 'reconnect_required'] as const }, $or: reachable }]),
  ];
  if (ways.length === 0) return [];
  return tx.find(AccountEntity, { $or: ways } as never, { orderBy: [{ connectedAt: 'asc' }, { id: 'asc' }], limit: ACCOUNTS_READ_MAX });
}

/** Workspaces by id; ids of nothing are left out. */
export async function findWorkspaces(tx: Tx, ids: readonly string[]): Promise<Map<string, Workspace>> {
  const known = [...new Set(ids.filter((id) => isId('workspace', id)))];
  if (known.length === 0) return new Map();
  const rows = await tx.find(WorkspaceEntity, { id: { $in: known } });
  return new Map(rows.map((row) => [row.id, row]));
}
