import { describe, expect, test } from '@jest/globals';
import { blockerOf, type AccountLoad } from '../../../api/resources/queue/blocking.ts';
import { dailyBudgetOf, minimumGapSeconds } from '../../../api/resources/queue/pacing.ts';

const at = (time: string) => new Date(`2026-11-${time}:00Z`);
const load = (more: Partial<AccountLoad>): AccountLoad => ({ accountId: 'acc_a', gapSeconds: 3_600, dailyBudget: null, busy: [], spent: [], ...more });
const held = { postId: 'post_1', workspaceId: null };

describe('the gap', () => {
  const blocker = blockerOf([load({ busy: [{ postId: 'post_late', workspaceId: null, at: at('24T15:00') }, { postId: 'post_early', workspaceId: null, at: at('24T12:00') }] })], new Map());

  test.each(['24T11:01', '24T12:00', '24T12:59', '24T14:01', '24T15:59'])('%s is closer to a post than it', (time) => {
    expect(blocker(at(time))).toMatchObject({ reason: 'minimum_gap', accountId: 'acc_a' });
  });
  test.each(['24T11:00', '24T13:00', '24T14:00', '24T16:00'])('%s is exactly as far or farther', (time) => {
    expect(blocker(at(time))).toBeNull();
  });
  test('the post that is in the way is named', () => {
    expect(blocker(at('24T14:30'))!.holder?.postId).toBe('post_late');
  });
  test('any of the accounts is enough', () => {
    const two = blockerOf([load({ accountId: 'acc_free' }), load({ busy: [{ ...held, at: at('24T12:00') }] })], new Map());
    expect(two(at('24T12:30'))).toEqual({ reason: 'minimum_gap', accountId: 'acc_a', holder: held });
  });
});

describe('the daily budget', () => {
  const spent = [at('24T10:00'), at('25T08:00')];
  const blocker = blockerOf([load({ dailyBudget: 2, spent })], new Map());

  test('counts the last 24 hours, whose first moment is no longer among them', () => {
    expect(blocker(at('24T12:00'))).toEqual({ reason: 'daily_budget', accountId: 'acc_a', holder: null });
    expect(blocker(at('25T09:59'))).not.toBeNull();
    expect(blocker(at('25T10:00'))).toBeNull();
  });
  test('is not taken away from a post that is planned for later', () => {
    expect(blocker(at('24T09:00'))).not.toBeNull();
    expect(blocker(at('24T08:00'))).toBeNull();
  });
  test('holds for nobody without one', () => {
    expect(blockerOf([load({ spent })], new Map())(at('24T12:00'))).toBeNull();
  });
});

test('a slot that a post holds is taken, and only that instant', () => {
  const blocker = blockerOf([], new Map([[at('24T12:00').getTime(), held]]));
  expect(blocker(at('24T12:00'))).toEqual({ reason: 'slot_taken', accountId: null, holder: held });
  expect(blocker(at('24T12:01'))).toBeNull();
});

const account = { id: 'acc_a', mode: 'live', platform: 'twitter', minGapSeconds: 0, dailyBudget: null } as const;

test.each([
  ['twitter', 1_800], ['mastodon', 1_800], ['discord', 1_800], ['facebook', 7_200], ['snapchat', 7_200], ['instagram', 14_400], ['youtube', 14_400], ['sms', 43_200], ['listmonk', 86_400],
] as const)('posts to %s are placed at least %i seconds apart', (platform, seconds) => {
  expect(minimumGapSeconds({ ...account, platform })).toBe(seconds);
});

test("the account's own gap counts where it is the larger one, its own budget where it is the smaller one", () => {
  expect(minimumGapSeconds({ ...account, minGapSeconds: 1_801 })).toBe(1_801);
  expect(minimumGapSeconds({ ...account, minGapSeconds: 60 })).toBe(1_800);
  expect(dailyBudgetOf({ ...account, dailyBudget: 3 })).toBe(3);
  expect(dailyBudgetOf(account)).toBeNull();
});
