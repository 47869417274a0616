import { CATCH_UP_GAP_MS } from '../contract/limits.ts';
import type { Tx } from '../db/database.ts';
import type { Account } from '../db/entities/account.entity.ts';

/** How long a target keeps its place after the moment it was to come: what waits for something else holds nobody longer. */
const PLACE_KEPT_MS = 120_000;
const DAY_MS = 86_400_000;

/** What keeps the public sends of an account apart, and what tells their order: the due time, then the post. */
export interface Pace {
  gapSeconds: number;
  /** Which of the account's two times the gap is kept by: late posts wait for each other, and nobody else waits for them. */
  gapOf: 'account' | 'late_posts';
  dailyBudget: number | null;
  due: Date;
  postId: string;
  /** What was due before and has not begun by now is waited for only in the first moments after this. */
  beganAt: Date;
}

/** Where a target stands among those of its account that want to go. */
export interface Standing {
  ahead: number;
  used: Used;
}

/** Public sends of the account in the last 24 hours; counted only where it has a budget. */
interface Used {
  count: number;
  firstAt: Date | null;
}

const NOTHING: Used = { count: 0, firstAt: null };
export const ALONE: Standing = { ahead: 0, used: NOTHING };

/** When a target may take its place; null = now. Asked before the work begins and once more under the lock of the claim. */
export function placeFreeAt(account: Pick<Account, 'nextAllowedAt' | 'lateAllowedAt'>, pace: Pace | null, { ahead, used }: Standing, now: Date): Date | null {
  const times = [account.nextAllowedAt, pace?.gapOf === 'late_posts' ? account.lateAllowedAt : null];
  const free = Math.max(now.getTime(), ...times.map((time) => time?.getTime() ?? 0)) + ahead * (pace?.gapSeconds ?? 0) * 1000;
  if (free > now.getTime()) return new Date(free);
  if (pace === null || pace.dailyBudget === null || used.count + ahead < pace.dailyBudget) return null;
  // What is left belongs to those ahead, who will soon have taken it.
  const isLeft = used.count < pace.dailyBudget || used.firstAt === null;
  return new Date(isLeft ? now.getTime() + CATCH_UP_GAP_MS : used.firstAt!.getTime() + DAY_MS + 1);
}

export async function standingOf(tx: Tx, accountId: string, pace: Pace, now: Date): Promise<Standing> {
  const { due, postId, beganAt, dailyBudget } = pace;
  const kept = new Date(now.getTime() - PLACE_KEPT_MS);
  const [row] = await tx.execute<{ ahead: number }[]>(
    `select count(*)::int as ahead from target t join post p on p.id = t.post_id left join operation o on o.id = t.operation_id
      where t.account_id = ? and t.status in ('scheduled', 'publishing') and p.deleted_at is null and (p.scheduled_at, p.id) < (?, ?)
        and case when t.status = 'publishing'
              then o.status = 'pending' and (case when t.waiting_until is null then o.updated_at else t.waiting_until end) > ? and (t.waiting_until is null or t.waiting_for = 'rate_budget')
              else p.scheduled_at <= ? and ? and (p.on_late = 'publish' or p.scheduled_at >= ?::timestamptz - make_interval(secs => p.max_lateness_seconds)) end`,
    [accountId, due, postId, kept, now, beganAt > kept, now]);
  return { ahead: row!.ahead, used: dailyBudget === null ? NOTHING : await usedOf(tx, accountId, now) };
}

async function usedOf(tx: Tx, accountId: string, now: Date): Promise<Used> {
  const [row] = await tx.execute<{ count: number; first_at: string | null }[]>(
    `select count(*)::int as count, min(claimed_at) as first_at from operation
      where account_id = ? and kind in ('publish', 'cross_post') and claimed_at > ? and status in ('sending', 'succeeded', 'unknown')`, [accountId, new Date(now.getTime() - DAY_MS)]);
  return { count: row!.count, firstAt: timeOf(row!.first_at) };
}

/**
 * Takes the next place of the account for a claim, if it is this target's turn. The account's row lets one claim look at
 * a time, so that no two take the same place; what it waits for is told by `placeFreeAt` to whoever looks again.
 */
export async function takePlace(tx: Tx, accountId: string, pace: Pace, now: Date): Promise<boolean> {
  const [row] = await tx.execute<{ next_allowed_at: string | null; late_allowed_at: string | null }[]>('select next_allowed_at, late_allowed_at from account where id = ? for no key update', [accountId]);
  // A statement of its own: joined to the lock, it would count what was claimed as it was before the wait for the lock.
  const standing = await standingOf(tx, accountId, pace, now);
  if (placeFreeAt({ nextAllowedAt: timeOf(row!.next_allowed_at), lateAllowedAt: timeOf(row!.late_allowed_at) }, pace, standing, now) !== null) return false;
  const column = pace.gapOf === 'late_posts' ? 'late_allowed_at' : 'next_allowed_at';
  if (pace.gapSeconds > 0) await tx.execute(`update account set ${column} = ? where id = ?`, [new Date(now.getTime() + pace.gapSeconds * 1000), accountId]);
  return true;
}

function timeOf(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}
