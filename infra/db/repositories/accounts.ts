import { OPERATION_KINDS, type AccountStatus, type OperationStatus, type SandboxBehaviour } from '../../contract/statuses.ts';
import type { Mode, Platform } from '../../contract/platforms.ts';
import type { Tx } from '../database.ts';

/** An account with what its presentation needs from other tables. */
export interface AccountView {
  id: string;
  mode: Mode;
  platform: Platform;
  platformAccountId: string;
  username: string | null;
  displayName: string | null;
  avatarUrl: string | null;
  metadata: Record<string, unknown>;
  workspace: { id: string; name: string } | null;
  status: AccountStatus;
  statusReason: string | null;
  sandboxBehaviour: SandboxBehaviour | null;
  scopes: string[];
  tokenExpiresAt: Date | null;
  minGapSeconds: number;
  dailyBudget: number | null;
  nextAllowedAt: Date | null;
  connectedAt: Date;
  reconnectedAt: Date | null;
  disconnectedAt: Date | null;
  updatedAt: Date;
}

interface Condition {
  sql: string;
  params: unknown[];
}

/** The names by which conditions on accounts are written. */
export const ACCOUNT_COLUMNS = {
  id: 'a.id', time: 'a.connected_at', workspaceId: 'a.workspace_id', platform: 'a.platform', status: 'a.status',
  username: 'a.username', displayName: 'coalesce(a.display_name_override, a.display_name)',
} as const;

const VIEW = `select a.id, a.mode, a.platform, a.platform_account_id, a.username, coalesce(a.display_name_override, a.display_name) as display_name,
       a.avatar_url, a.metadata, w.id as workspace_id, w.name as workspace_name, a.status, a.status_reason, a.sandbox_behaviour, a.scopes,
       c.expires_at as token_expires_at, a.min_gap_seconds, a.daily_budget, a.next_allowed_at, a.connected_at, a.reconnected_at, a.disconnected_at, a.updated_at
  from account a left join workspace w on w.id = a.workspace_id left join credential c on c.account_id = a.id`;

export async function listAccounts(tx: Tx, condition: Condition & { order: string }): Promise<AccountView[]> {
  const rows = await tx.execute<Record<string, any>[]>(`${VIEW} where ${condition.sql} ${condition.order}`, condition.params);
  return rows.map(toView);
}

export async function countAccounts(tx: Tx, condition: Condition): Promise<number> {
  const rows = await tx.execute<{ total: number }[]>(`select count(*)::int as total from account a where ${condition.sql}`, condition.params);
  return rows[0]!.total;
}

export async function findAccount(tx: Tx, id: string, options: { forUpdate?: boolean } = {}): Promise<AccountView | null> {
  const rows = await tx.execute<Record<string, any>[]>(`${VIEW} where a.id = ?${options.forUpdate === true ? ' for update of a' : ''}`, [id]);
  return rows[0] === undefined ? null : toView(rows[0]);
}

/** What was read about the account's server is forgotten with the change, because the sandbox may now play another server. */
export async function setSandboxBehaviour(tx: Tx, change: { id: string; behaviour: SandboxBehaviour; at: Date }): Promise<void> {
  await tx.execute('update account set sandbox_behaviour = ?, facts_at = null, updated_at = ? where id = ?', [change.behaviour, change.at, change.id]);
}

export const PACED_KINDS = ['publish', 'cross_post'] as const satisfies readonly (typeof OPERATION_KINDS)[number][];
/** A proven "not sent" and a refusal give their unit back; an unknown outcome does not. */
export const COUNTED_STATUSES = ['sending', 'succeeded', 'unknown'] as const satisfies readonly OperationStatus[];

/** Public sends since a moment, by account. Accounts without any are absent. */
export async function countSends(tx: Tx, accountIds: readonly string[], since: Date): Promise<Map<string, number>> {
  if (accountIds.length === 0) return new Map();
  const rows = await tx.execute<{ account_id: string; sends: number }[]>(
    'select account_id, count(*)::int as sends from operation where account_id in (?) and claimed_at > ? and kind in (?) and status in (?) group by account_id',
    [accountIds, since, PACED_KINDS, COUNTED_STATUSES],
  );
  return new Map(rows.map((row) => [row.account_id, row.sends]));
}

function toView(row: Record<string, any>): AccountView {
  return {
    id: row.id, mode: row.mode, platform: row.platform, platformAccountId: row.platform_account_id, username: row.username, displayName: row.display_name,
    avatarUrl: row.avatar_url, metadata: row.metadata, workspace: row.workspace_id === null ? null : { id: row.workspace_id, name: row.workspace_name },
    status: row.status, statusReason: row.status_reason, sandboxBehaviour: row.sandbox_behaviour, scopes: row.scopes, tokenExpiresAt: instant(row.token_expires_at),
    minGapSeconds: row.min_gap_seconds, dailyBudget: row.daily_budget, nextAllowedAt: instant(row.next_allowed_at), connectedAt: instant(row.connected_at)!,
    reconnectedAt: instant(row.reconnected_at), disconnectedAt: instant(row.disconnected_at), updatedAt: instant(row.updated_at)!,
  };
}

function instant(value: string | Date | null): Date | null {
  return value === null ? null : new Date(value);
}
