import { HISTORY_BEST_HOURS, HISTORY_POSTS_OF_ACCOUNT_MIN, HISTORY_POSTS_OF_HOUR_MIN } from '../../../infra/contract/limits.ts';
import type { HourOfWeek } from './weekly-times.ts';

/** What an account's posts of one hour of the week were worth. */
export interface HistoryHour extends HourOfWeek {
  posts: number;
  /** The mean value of these posts. */
  mean: number;
}

/** What is known of one account, in the zone that the question is asked in. */
export interface AccountHistory {
  accountId: string;
  hours: readonly HistoryHour[];
}

/** Nothing that the service stores tells how a post was received, so no account has a history. */
export const NO_HISTORY: readonly AccountHistory[] = [];

export interface Engagement {
  /** 0..1; an hour of which nothing is known has 0. */
  of(at: HourOfWeek): number;
  /** The best known hours, best first. */
  best: HourOfWeek[];
}

/** Null where no account has enough posts to tell anything by. */
export function engagementOf(history: readonly AccountHistory[]): Engagement | null {
  const accounts = history.filter(({ hours }) => hours.reduce((sum, { posts }) => sum + posts, 0) >= HISTORY_POSTS_OF_ACCOUNT_MIN).map(shares);
  if (accounts.length === 0) return null;
  const of = (at: HourOfWeek) => accounts.reduce((sum, account) => sum + (account.get(keyOf(at)) ?? 0), 0) / accounts.length;
  const known = [...new Set(accounts.flatMap((account) => [...account.keys()]))].map(hourOfKey);
  return { of, best: known.sort((a, b) => of(b) - of(a) || fromMonday(a) - fromMonday(b) || a.hour - b.hour).slice(0, HISTORY_BEST_HOURS) };
}

/** An account's hours that count, each as a share of its best one. */
function shares({ hours }: AccountHistory): Map<number, number> {
  const counting = hours.filter(({ posts }) => posts >= HISTORY_POSTS_OF_HOUR_MIN);
  const best = Math.max(...counting.map(({ mean }) => mean));
  return new Map(counting.map((hour) => [keyOf(hour), best > 0 ? hour.mean / best : 0]));
}

function keyOf({ weekday, hour }: HourOfWeek): number {
  return weekday * 24 + hour;
}

function hourOfKey(key: number): HourOfWeek {
  return { weekday: Math.floor(key / 24), hour: key % 24 };
}

function fromMonday({ weekday }: HourOfWeek): number {
  return (weekday + 6) % 7;
}
