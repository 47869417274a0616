import type { Call } from '../../route.ts';
import { visibleWorkspaces } from '../../workspace-access.ts';

/**
 * The filters of a request as the sandbox understands them; null when nothing can match. The organization is the caller's,
 * posts and targets become their operations, and a scoped credential sees the accounts of its workspaces.
 */
export async function sandboxFilter(call: Call): Promise<URLSearchParams | null> {
  const { query, caller } = call;
  const filter = new URLSearchParams({ organization_id: caller.organizationId });
  for (const name of ['platform', 'object_id', 'text', 'epoch'] as const) if (query[name] !== undefined) filter.set(name, query[name]);
  if (query.kind?.length > 0) filter.set('kind', query.kind.join(','));
  if (query.include?.includes('requests') === true) filter.set('include', 'requests');
  for (const [name, ids] of [['account_id', await accountsOf(call)], ['operation_id', await operationsOf(call)]] as const) {
    if (ids === null) continue;
    if (ids.length === 0) return null;
    filter.set(name, ids.join(','));
  }
  return filter;
}

/** null = every account. */
async function accountsOf({ tx, caller, query }: Call): Promise<string[] | null> {
  if (caller.workspaceScope === 'all') return query.account_id === undefined ? null : [query.account_id];
  const visible = visibleWorkspaces(caller, 'workspace_id');
  const rows = await tx.execute<{ id: string }[]>(`select id from account where ${visible.sql}`, visible.params);
  const ids = rows.map((row) => row.id);
  return query.account_id === undefined ? ids : ids.filter((id) => id === query.account_id);
}

async function operationsOf({ tx, query }: Call): Promise<string[] | null> {
  const { post_id: postId, target_id: targetId, operation_id: operationId } = query;
  if (postId === undefined && targetId === undefined) return operationId === undefined ? null : [operationId];
  const conditions = { post_id: postId, target_id: targetId, id: operationId };
  const given = Object.entries(conditions).filter((one): one is [string, string] => one[1] !== undefined);
  const rows = await tx.execute<{ id: string }[]>(`select id from operation where ${given.map(([column]) => `${column} = ?`).join(' and ')}`, given.map(([, value]) => value));
  return rows.map((row) => row.id);
}
