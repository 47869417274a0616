import { PACING_WINDOW_MS } from '../../../../infra/contract/limits.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import { readBusyTargets, readSends } from '../../../../infra/db/repositories/busy-times.ts';
import type { Call } from '../../../route.ts';
import { dailyBudgetOf, effectiveGapSeconds } from '../../queue/pacing.ts';
import { planIssue, type PlanIssue } from './issues.ts';
import type { PlannedTarget } from './planned-targets.ts';
import type { Schedule } from './schedule.ts';

export interface ExpectedTime {
  /** null = nobody can tell, or a draft. */
  at: Date | null;
  waits: boolean;
}

export interface ExpectedTimes {
  byAccount: ReadonlyMap<string, ExpectedTime>;
  issues: PlanIssue[];
}

/** When each target would go out behind what its account already has to send. */
export async function expectedTimes({ tx, now }: Call, { schedule, targets, postId }: { schedule: Schedule; targets: readonly PlannedTarget[]; postId: string | null }): Promise<ExpectedTimes> {
  const due = schedule.kind === 'draft' ? null : schedule.at;
  const accounts = targets.map((target) => target.account);
  if (due === null || accounts.length === 0) return { byAccount: new Map(), issues: [] };
  const since = new Date(now.getTime() - 1000 * Math.max(...accounts.map(effectiveGapSeconds)));
  const busy = Map.groupBy(await readBusyTargets(tx, { accountIds: accounts.map(({ id }) => id), now, since, exceptPostId: postId }), ({ accountId }) => accountId);
  const sends = Map.groupBy(await readSends(tx, accounts.filter((one) => dailyBudgetOf(one) !== null).map(({ id }) => id), new Date(now.getTime() - PACING_WINDOW_MS)), ({ accountId }) => accountId);
  const found = accounts.map((account) => {
    const times = busy.get(account.id) ?? [];
    const spent = [...(sends.get(account.id) ?? []), ...times.filter(({ isAhead }) => isAhead)].map(({ at }) => at);
    return expectedOf(account, due, { busy: times.map(({ at }) => at), spent });
  });
  return { byAccount: new Map(found.map(({ account, expected }) => [account.id, expected])), issues: found.flatMap(({ issues }) => issues) };
}

interface Expected {
  account: Account;
  expected: ExpectedTime;
  issues: PlanIssue[];
}

function expectedOf(account: Account, due: Date, { busy, spent }: { busy: readonly Date[]; spent: readonly Date[] }): Expected {
  const at = behind(due, busy, { gapMs: effectiveGapSeconds(account) * 1000, notBefore: account.nextAllowedAt ?? null });
  const budget = dailyBudgetOf(account);
  const used = spent.filter((one) => one <= at && one.getTime() > at.getTime() - PACING_WINDOW_MS).length;
  if (budget !== null && used >= budget) return { account, expected: { at: null, waits: true }, issues: [exhausted(account, { used, budget })] };
  const waits = at > due;
  return { account, expected: { at, waits }, issues: waits ? [delayed(account, at)] : [] };
}

/** Who was due earlier, or at the same time, goes first. */
function behind(due: Date, busy: readonly Date[], { gapMs, notBefore }: { gapMs: number; notBefore: Date | null }): Date {
  let free = notBefore?.getTime() ?? 0;
  if (gapMs > 0) for (const at of busy.filter((one) => one <= due).toSorted((a, b) => a.getTime() - b.getTime())) free = Math.max(at.getTime(), free) + gapMs;
  return new Date(Math.max(due.getTime(), free));
}

function delayed(account: Account, at: Date): PlanIssue {
  return planIssue({ code: 'PACING_DELAY', severity: 'warning', account, path: ['scheduled_at'], message: `The account's pacing lets this out at ${at.toISOString()}.`, fix: 'Choose a later time, or a smaller min_gap_seconds of the account.', details: { expected_at: at.toISOString() } });
}

function exhausted(account: Account, { used, budget }: { used: number; budget: number }): PlanIssue {
  return planIssue({ code: 'RATE_BUDGET_EXHAUSTED', severity: 'warning', account, path: ['scheduled_at'], message: `The account has ${used} of its ${budget} posts within these 24 hours.`, fix: 'Choose a later time, or a larger daily_budget of the account.', details: { used, limit: budget } });
}
