import { PACING_WINDOW_MS } from '../../../infra/contract/limits.ts';
import type { Tx } from '../../../infra/db/database.ts';
import { readBusyTargets, readPlannedPosts, readSends } from '../../../infra/db/repositories/busy-times.ts';
import { blockerOf, type AccountLoad, type Blocker } from './blocking.ts';
import { dailyBudgetOf, minimumGapSeconds, type PacedAccount } from './pacing.ts';
import type { SlotSource } from './weigh.ts';

interface LoadQuestion {
  accounts: readonly PacedAccount[];
  /** Of the post to be placed; its other posts take slots away. */
  workspaceId: string | null;
  now: Date;
  exceptPostId: string | null;
}

/** Reads once what stands against any instant for these accounts. */
export async function readBlockers(tx: Tx, { accounts, workspaceId, now, exceptPostId }: LoadQuestion): Promise<(source: SlotSource) => Blocker> {
  const loads = await readLoads(tx, { accounts, now, exceptPostId });
  const taken = await readPlannedPosts(tx, { workspaceId, after: now, exceptPostId });
  return (source) => blockerOf(loads, source === 'queue_slot' ? taken : new Map());
}

async function readLoads(tx: Tx, { accounts, now, exceptPostId }: Omit<LoadQuestion, 'workspaceId'>): Promise<AccountLoad[]> {
  const gaps = accounts.map(minimumGapSeconds);
  const since = new Date(now.getTime() - Math.max(0, ...gaps) * 1000);
  const busy = Map.groupBy(await readBusyTargets(tx, { accountIds: accounts.map(({ id }) => id), now, since, exceptPostId }), ({ accountId }) => accountId);
  const budgeted = accounts.filter((account) => dailyBudgetOf(account) !== null).map(({ id }) => id);
  const sends = Map.groupBy(await readSends(tx, budgeted, new Date(now.getTime() - PACING_WINDOW_MS)), ({ accountId }) => accountId);
  return accounts.map((account, index) => {
    const times = busy.get(account.id) ?? [];
    const ahead = times.filter(({ isAhead }) => isAhead).map(({ at }) => at);
    return { accountId: account.id, gapSeconds: gaps[index]!, dailyBudget: dailyBudgetOf(account), busy: times, spent: [...(sends.get(account.id) ?? []).map(({ at }) => at), ...ahead] };
  });
}
