import { describe, expect, test } from '@jest/globals';
import type { Blocker } from '../../../api/resources/queue/blocking.ts';
import type { AccountHistory, HistoryHour } from '../../../api/resources/queue/engagement.ts';
import { weigh, type SlotQuestion } from '../../../api/resources/queue/weigh.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';

/** A Saturday. */
const NOW = new Date('2026-11-21T10:00:00Z');
const free: Blocker = () => null;
const blockedWhere = (isBlocked: (at: Date) => boolean): Blocker => (at) => (isBlocked(at) ? { reason: 'minimum_gap', accountId: 'acc_a', holder: { postId: 'post_1', workspaceId: null } } : null);
const question = (more: Partial<SlotQuestion>): SlotQuestion => ({ now: NOW, after: null, zone: 'UTC', platforms: ['twitter'], slots: null, history: [], blockerOf: () => free, ...more });
const best = (more: Partial<SlotQuestion>) => {
  const { source, free: slots } = weigh(question(more));
  return [source, slots[0]?.at.toISOString(), slots[0]?.score];
};

describe('defaults', () => {
  test('the first hour of the platform that is soonest', () => {
    expect(best({})).toEqual(['default', '2026-11-23T09:00:00.000Z', 96.08]);
    expect(weigh(question({})).free.map(({ at, score, recency, engagement }) => [at.toISOString().slice(5, 16), score, recency, engagement]).slice(0, 3)).toEqual([
      ['11-23T09:00', 96.08, 56.08, 40], ['11-24T09:00', 94.08, 54.08, 40], ['11-25T09:00', 92.08, 52.08, 40],
    ]);
  });
  test('in the zone that is asked for', () => {
    expect(best({ zone: 'Australia/Lord_Howe' })[1]).toBe('2026-11-22T22:00:00.000Z');
    expect(best({ zone: 'America/New_York' })[1]).toBe('2026-11-23T14:00:00.000Z');
  });
  test('of several accounts, an hour is worth what it is worth to them on average', () => {
    // 11:00 is the best of instagram and nothing to twitter; 09:00 the other way round.
    const { free: slots } = weigh(question({ platforms: ['twitter', 'mastodon', 'instagram'] }));
    const at = (time: string) => slots.find((slot) => slot.at.toISOString().startsWith(time))!;
    expect(at('2026-11-23T09:00').engagement).toBe(26.67);
    expect(at('2026-11-23T11:00').engagement).toBe(13.33);
    expect(at('2026-11-23T12:00').engagement).toBe(21.33);
    expect(at('2026-11-28T10:00').engagement).toBe(10.67);
  });
  test('one of the equal ones is the earliest', () => {
    const { free: slots } = weigh(question({ platforms: ['pinterest'] }));
    expect(slots.map(({ at }) => at.getTime())).toEqual(slots.map(({ at }) => at.getTime()).toSorted((a, b) => a - b));
  });
  test.each(PLATFORMS)('%s has some', (platform) => {
    expect(weigh(question({ platforms: [platform] })).free.length).toBeGreaterThanOrEqual(8);
  });
});

describe('a queue', () => {
  const slots = [{ day_of_week: 3, time: '07:15', timezone: 'Europe/Berlin' }];

  test('is followed, whatever the platforms would like better', () => {
    expect(best({ slots })).toEqual(['queue_slot', '2026-11-25T06:15:00.000Z', 52.31]);
  });
  test('that is blocked everywhere gives nothing, because nothing goes out outside the slots', () => {
    const weighed = weigh(question({ slots, blockerOf: () => blockedWhere(() => true) }));
    expect([weighed.source, weighed.free.length, weighed.blocked.length]).toEqual(['queue_slot', 0, 4]);
    expect(weighed.horizon.to.toISOString()).toBe('2026-12-21T10:00:00.000Z');
  });
  test('a slot within the next five minutes is too soon, the one at their end is not', () => {
    const soon = (time: string) => best({ slots: [{ day_of_week: 6, time, timezone: 'UTC' }] })[1];
    expect(soon('10:04')).toBe('2026-11-28T10:04:00.000Z');
    expect(soon('10:05')).toBe('2026-11-21T10:05:00.000Z');
  });
  test('slots up to `after` do not count', () => {
    expect(best({ slots, after: new Date('2026-11-25T06:15:00Z') })[1]).toBe('2026-12-02T06:15:00.000Z');
  });
  test('of two slots, the one at which earlier posts did better wins where it is not much later', () => {
    const two = [{ day_of_week: 1, time: '09:00', timezone: 'UTC' }, { day_of_week: 2, time: '18:00', timezone: 'UTC' }];
    expect(best({ slots: two, history: [account('acc_a', [hour(2, 18, 10, 0.05)])] })[1]).toBe('2026-11-24T18:00:00.000Z');
    expect(best({ slots: two })[1]).toBe('2026-11-23T09:00:00.000Z');
  });
});

const hour = (weekday: number, at: number, posts: number, mean: number): HistoryHour => ({ weekday, hour: at, posts, mean });
const account = (accountId: string, hours: HistoryHour[]): AccountHistory => ({ accountId, hours });

describe('history', () => {
  const rich = account('acc_a', [hour(1, 20, 4, 0.08), hour(4, 7, 3, 0.04), hour(0, 12, 4, 0.06), hour(2, 2, 2, 0.9)]);

  test('the hours with the best posts are chosen, weighed against how soon they come', () => {
    const { source, free: slots } = weigh(question({ history: [rich] }));
    expect(source).toBe('best_time');
    expect(slots.slice(0, 3).map(({ at, engagement }) => [at.toISOString().slice(5, 16), engagement])).toEqual([['11-23T20:00', 40], ['11-22T12:00', 30], ['11-30T20:00', 40]]);
  });
  test('an hour of fewer than three posts tells nothing', () => {
    expect(weigh(question({ history: [rich] })).free.some(({ at }) => at.getUTCDay() === 2)).toBe(false);
  });
  test('an account of fewer than ten posts does not count', () => {
    expect(best({ history: [account('acc_a', [hour(1, 20, 9, 0.08)])] })[0]).toBe('default');
    expect(best({ history: [account('acc_a', [hour(1, 20, 10, 0.08)])] })[0]).toBe('best_time');
  });
  test('several accounts are the mean of those that count', () => {
    const other = account('acc_b', [hour(1, 20, 5, 0.5), hour(5, 9, 5, 1)]);
    const { free: slots } = weigh(question({ history: [rich, other, account('acc_c', [hour(1, 20, 1, 9)])] }));
    expect(slots.find(({ at }) => at.getUTCDay() === 1)!.engagement).toBe(30);
    expect(slots.find(({ at }) => at.getUTCDay() === 5)!.engagement).toBe(20);
  });
  test('only the ten best hours are candidates; of equal ones those earlier in a week that begins on Monday', () => {
    const equal = account('acc_a', Array.from({ length: 12 }, (_, index) => hour(index % 2, 23 - index, 3, 0.1)));
    const hours = new Set(weigh(question({ history: [equal] })).free.map(({ at }) => `${at.getUTCDay()} ${at.getUTCHours()}`));
    expect(hours).toEqual(new Set(['1 12', '1 14', '1 16', '1 18', '1 20', '1 22', '0 13', '0 15', '0 17', '0 19']));
  });
  test('where all of it is blocked, the defaults are asked', () => {
    expect(best({ history: [rich], blockerOf: (source) => (source === 'best_time' ? blockedWhere(() => true) : free) })[0]).toBe('default');
  });
  test('posts that nobody looked at are worth nothing, and break nothing', () => {
    expect(best({ history: [account('acc_a', [hour(1, 20, 10, 0)])] })).toEqual(['best_time', '2026-11-23T20:00:00.000Z', 55.17]);
  });
});

test('equal questions have equal answers', () => {
  const asked = () => weigh(question({ platforms: [...PLATFORMS], zone: 'Europe/Berlin', blockerOf: () => blockedWhere((at) => at.getUTCHours() === 9) }));
  expect(asked()).toEqual(asked());
});
