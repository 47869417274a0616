import { PACING_WINDOW_MS } from '../../../infra/contract/limits.ts';

/** The post that stands in the way, and where it lies: who meets it need not be allowed to see it. */
export interface Holder {
  postId: string;
  workspaceId: string | null;
}

/** A time at which an account publishes or has published. */
export interface BusyTime extends Holder {
  at: Date;
}

/** What keeps an account from publishing at a time. */
export interface AccountLoad {
  accountId: string;
  gapSeconds: number;
  dailyBudget: number | null;
  busy: readonly BusyTime[];
  /** What the budget is spent on: sends of the last day, and what waits for its time. Looked at only where there is a budget. */
  spent: readonly Date[];
}

export interface Block {
  reason: 'slot_taken' | 'minimum_gap' | 'daily_budget';
  accountId: string | null;
  holder: Holder | null;
}

/** Says what stands against an instant; null = nothing. */
export type Blocker = (at: Date) => Block | null;

/** `taken`: the posts that hold a slot of the queue, by its time in milliseconds; it is empty where instants are no slots. */
export function blockerOf(loads: readonly AccountLoad[], taken: ReadonlyMap<number, Holder>): Blocker {
  const accounts = loads.map(blockerOfAccount);
  return (at) => {
    const holder = taken.get(at.getTime());
    if (holder !== undefined) return { reason: 'slot_taken', accountId: null, holder };
    for (const account of accounts) {
      const block = account(at);
      if (block !== null) return block;
    }
    return null;
  };
}

function blockerOfAccount({ accountId, gapSeconds, dailyBudget, busy, spent }: AccountLoad): Blocker {
  const others = busy.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const times = others.map(({ at }) => at.getTime());
  const spentAt = spent.map((at) => at.getTime()).sort((a, b) => a - b);
  const gapMs = gapSeconds * 1000;
  return (at) => {
    const t = at.getTime();
    const index = firstAbove(times, t - gapMs);
    if (index < times.length && times[index]! < t + gapMs) return { reason: 'minimum_gap', accountId, holder: holderOf(others[index]!) };
    return dailyBudget !== null && exceeds(spentAt, t, dailyBudget) ? { reason: 'daily_budget', accountId, holder: null } : null;
  };
}

function holderOf({ postId, workspaceId }: BusyTime): Holder {
  return { postId, workspaceId };
}

/** Whether one send more at `t` makes any span of 24 hours that holds `t` hold more than the budget. */
function exceeds(spent: readonly number[], t: number, budget: number): boolean {
  const later = spent.slice(firstAbove(spent, t), firstAbove(spent, t + PACING_WINDOW_MS - 1));
  return [t, ...later].some((end) => firstAbove(spent, end) - firstAbove(spent, end - PACING_WINDOW_MS) + 1 > budget);
}

/** Index of the first of the sorted times that is later than `t`; their number where none is. */
function firstAbove(times: readonly number[], t: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! > t) high = middle;
    else low = middle + 1;
  }
  return low;
}
