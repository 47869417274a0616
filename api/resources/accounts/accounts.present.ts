import type { AccountView } from '../../../infra/db/repositories/accounts.ts';
import { platformCatalog } from '../../../providers/catalog.ts';

/** Row → wire. `used24h` is counted for a whole page at once. */
export function presentAccount(account: AccountView, { used24h, now }: { used24h: number; now: Date }): Record<string, unknown> {
  return {
    id: account.id,
    platform: account.platform,
    platform_account_id: account.platformAccountId,
    username: account.username,
    display_name: account.displayName,
    avatar_url: account.avatarUrl,
    metadata: account.metadata,
    workspace: account.workspace,
    workspace_id: account.workspace?.id ?? null,
    status: account.status,
    status_reason: account.statusReason,
    sandbox: account.mode === 'test',
    sandbox_behaviour: account.sandboxBehaviour,
    scopes: account.scopes,
    token_expires_at: instant(account.tokenExpiresAt),
    reconnect_by: null,
    pacing: presentPacing(account, used24h, now),
    connected_at: instant(account.connectedAt),
    reconnected_at: instant(account.reconnectedAt),
    disconnected_at: instant(account.disconnectedAt),
    created_at: instant(account.connectedAt),
    updated_at: instant(account.updatedAt),
  };
}

function presentPacing(account: AccountView, used24h: number, now: Date): Record<string, unknown> {
  const platform = platformCatalog(account.platform)?.pacing;
  return {
    min_gap_seconds: account.minGapSeconds,
    daily_budget: account.dailyBudget,
    platform_min_gap_seconds: platform?.minGapSeconds ?? 0,
    platform_daily_budget: platform?.dailyBudget ?? null,
    used_24h: used24h,
    // A moment that has passed holds nobody up.
    next_allowed_at: account.nextAllowedAt !== null && account.nextAllowedAt > now ? instant(account.nextAllowedAt) : null,
  };
}

function instant(value: Date | null): string | null {
  return value === null ? null : value.toISOString();
}
