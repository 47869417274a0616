import { ApiError } from '../../../infra/contract/errors.ts';
import type { SandboxBehaviour } from '../../../infra/contract/statuses.ts';
import { ACCOUNT_COLUMNS, countAccounts, countSends, findAccount, listAccounts, setSandboxBehaviour, type AccountView } from '../../../infra/db/repositories/accounts.ts';
import { reconnectSandboxAccount } from '../../../infra/organizations.ts';
import { sandboxAdmin } from '../../../infra/sandbox-admin.ts';
import { allOf, containing, pageReply, windowClause, type Clause } from '../../page.ts';
import type { Call, Reply } from '../../route.ts';
import { validationError } from '../../validation/issues.ts';
import { assertNamedWorkspace, assertWorkspaceAccess, visibleWorkspaces } from '../../workspace-access.ts';
import { presentAccount } from './accounts.present.ts';

const PACING_WINDOW_MS = 86_400_000;

export async function list(call: Call): Promise<Reply> {
  if (call.query.workspace_id !== undefined) await assertNamedWorkspace(call, call.query.workspace_id, 'read');
  const filter = allOf([visibleWorkspaces(call.caller, ACCOUNT_COLUMNS.workspaceId), ...filters(call.query)]);
  const { order, ...window } = windowClause(call.window!, ACCOUNT_COLUMNS);
  const total = await countAccounts(call.tx, allOf([filter, windowClause({ ...call.window!, after: null }, ACCOUNT_COLUMNS)]));
  const rows = await listAccounts(call.tx, { ...allOf([filter, window]), order });
  return pageReply(call, {
    rows,
    position: (account) => ({ at: account.connectedAt, id: account.id }),
    present: (accounts) => present(call, accounts),
    more: { total },
  });
}

export async function read(call: Call): Promise<Reply> {
  return shown(call, await load(call));
}

/** The sandbox learns of it inside the transaction: what cannot be told to it is not stored. */
export async function patch(call: Call): Promise<Reply> {
  const account = await load(call, { forUpdate: true });
  const behaviour = call.body.sandbox_behaviour as SandboxBehaviour | undefined;
  if (behaviour === undefined) return shown(call, account);
  if (account.mode !== 'test') {
    throw validationError([{ code: 'custom', message: 'sandbox_behaviour can be set on sandbox accounts only', path: ['sandbox_behaviour'], in: 'body' }]);
  }
  if (account.status === 'disconnecting' || account.status === 'disconnected') {
    throw new ApiError('ACCOUNT_DISCONNECTED', 'This account is disconnected; connect it again first.', {
      details: { account_ids: [account.id], status: account.status, status_reason: account.statusReason },
    });
  }
  if (behaviour === 'normal' && account.status === 'reconnect_required') {
    await reconnectSandboxAccount(call.tx, call.infra, account.id, call.now);
  } else if (behaviour !== account.sandboxBehaviour) {
    await setSandboxBehaviour(call.tx, { id: account.id, behaviour, at: call.now });
    await sandboxAdmin(call.infra).setBehaviour(account.id, behaviour);
  }
  return shown(call, (await findAccount(call.tx, account.id))!);
}

function filters(query: Call['query']): Clause[] {
  const platforms = [...((query.platforms as string[] | undefined) ?? []), ...(query.platform === undefined ? [] : [query.platform as string])];
  const { username, displayName, workspaceId, platform, status } = ACCOUNT_COLUMNS;
  const pattern = containing(query.search ?? '');
  return [
    { sql: `${status} in (?)`, params: [query.status] },
    ...(query.workspace_id === undefined ? [] : [{ sql: `${workspaceId} = ?`, params: [query.workspace_id] }]),
    ...(query.ungrouped === true ? [{ sql: `${workspaceId} is null`, params: [] }] : []),
    ...(platforms.length === 0 ? [] : [{ sql: `${platform} in (?)`, params: [platforms] }]),
    ...(query.search === undefined ? [] : [{ sql: `${username} ilike ? or ${displayName} ilike ?`, params: [pattern, pattern] }]),
  ];
}

async function load(call: Call, options: { forUpdate?: boolean } = {}): Promise<AccountView> {
  const account = await findAccount(call.tx, call.params.id!, options);
  if (account === null) throw new ApiError('ACCOUNT_NOT_FOUND', 'There is no such account.', { details: { resource: 'account' } });
  assertWorkspaceAccess(call.caller, account.workspace?.id ?? null);
  return account;
}

async function shown(call: Call, account: AccountView): Promise<Reply> {
  const [body] = await present(call, [account]);
  return { status: 200, body, workspaceIds: [account.workspace?.id ?? null] };
}

async function present(call: Call, accounts: AccountView[]): Promise<Record<string, unknown>[]> {
  const sends = await countSends(call.tx, accounts.map((account) => account.id), new Date(call.now.getTime() - PACING_WINDOW_MS));
  return accounts.map((account) => presentAccount(account, { used24h: sends.get(account.id) ?? 0, now: call.now }));
}
