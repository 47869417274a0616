import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chooseSlot, type SlotChoice, type SlotRequest } from '../../../api/resources/queue/choose-slot.ts';
import { openDatabase, type Database } from '../../../infra/db/database.ts';
import { OperationEntity } from '../../../infra/db/entities/operation.entity.ts';
import { flush } from '../../../infra/db/rows.ts';
import { inScope, SYSTEM, tenant } from '../../../infra/db/tenant.ts';
import { account, workspace } from '../../support/factories.ts';
import { sendingAttempt, settleAttempt } from '../../support/operations.ts';
import { addPlaced, placed, useQueueWorld, type Home, type QueueWorld } from './world.ts';

let world: QueueWorld;
let home: Home;
useQueueWorld((opened, own) => {
  [world, home] = [opened, own];
});

/** A Saturday. */
const NOW = new Date('2026-11-21T10:00:00Z');
const DAY_MS = 86_400_000;
const twitter = (more = {}) => account(world.api.infra, { organizationId: home.organizationId, platform: 'twitter', ...more });
const slotsAt = (timezone: string, ...times: [number, string][]) => ({ slots: times.map(([day_of_week, time]) => ({ day_of_week, time })), timezone });

async function choose(request: Pick<SlotRequest, 'accounts'> & Partial<SlotRequest>): Promise<SlotChoice> {
  const { accounts } = request;
  return inScope(world.api.infra.db, tenant(accounts[0]!), (tx) => chooseSlot(tx, { workspaceId: accounts[0]!.workspaceId ?? null, timezone: null, now: NOW, lock: true, ...request }));
}
async function chosen(request: Pick<SlotRequest, 'accounts'> & Partial<SlotRequest>): Promise<any> {
  const choice = await choose(request);
  if (choice.kind === 'none') throw new Error(`none of ${choice.details.candidates}`);
  expect(choice.explanation.slot_at).toBe(choice.at.toISOString());
  return choice.explanation;
}

describe('where the slot comes from', () => {
  test('without a queue, from the defaults of the platform, in UTC', async () => {
    expect(await chosen({ accounts: [await twitter()] })).toEqual({
      source: 'default', slot_at: '2026-11-23T09:00:00.000Z', local: '2026-11-23T09:00:00.000+00:00', timezone: 'UTC', score: 96.08, components: { recency: 56.08, engagement: 40 },
      queue_id: null, minimum_gap_seconds: 1_800, candidates: 61, blocked: 0,
      alternatives: [{ slot_at: '2026-11-24T09:00:00.000Z', score: 94.08 }, { slot_at: '2026-11-25T09:00:00.000Z', score: 92.08 }, { slot_at: '2026-11-26T09:00:00.000Z', score: 90.08 }],
      skipped: [],
    });
  });

  test('in the zone of the post', async () => {
    expect(await chosen({ accounts: [await twitter()], timezone: 'Australia/Lord_Howe' })).toMatchObject({ slot_at: '2026-11-22T22:00:00.000Z', local: '2026-11-23T09:00:00.000+11:00', timezone: 'Australia/Lord_Howe' });
  });

  test('with a queue, from its slots alone, in the zone of the first', async () => {
    const { id } = await home.schedule(slotsAt('America/New_York', [3, '07:15'], [2, '23:00']));
    expect(await chosen({ accounts: [await twitter()] })).toMatchObject({
      source: 'queue_slot', queue_id: id, slot_at: '2026-11-25T04:00:00.000Z', local: '2026-11-24T23:00:00.000-05:00', timezone: 'America/New_York', components: { engagement: 0 }, candidates: 8,
    });
  });

  test("the workspace's own queue goes before the organization's, and only a default is followed", async () => {
    const { id: workspaceId } = await workspace(world.api.infra, { organizationId: home.organizationId });
    const accounts = [await twitter({ workspaceId })];
    const ofAll = await home.schedule(slotsAt('UTC', [1, '09:00']));
    await home.schedule(slotsAt('UTC', [0, '09:00']));
    expect((await chosen({ accounts })).queue_id).toBe(ofAll.id);
    const own = await home.schedule({ ...slotsAt('UTC', [5, '09:00']), workspace_id: workspaceId });
    expect(await chosen({ accounts })).toMatchObject({ queue_id: own.id, slot_at: '2026-11-27T09:00:00.000Z' });
  });

  test('a queue whose slots are all blocked gives none, with what was looked at', async () => {
    await home.schedule(slotsAt('UTC', [3, '09:00']));
    const one = await twitter();
    for (const weeks of [0, 1, 2, 3]) await placed(world, { account: one, at: new Date(Date.parse('2026-11-25T09:10:00Z') + weeks * 7 * DAY_MS) });
    expect(await choose({ accounts: [one] })).toEqual({ kind: 'none', details: { candidates: 4, blocked: 4, horizon_end: '2026-12-21T10:00:00.000Z', source: 'queue_slot' } });
  });
});

describe('what stands against a slot', () => {
  const monday = new Date('2026-11-23T09:00:00Z');

  test('a post of the account that is closer than the gap, which is named', async () => {
    const one = await twitter();
    const other = await placed(world, { account: one, at: new Date('2026-11-23T09:29:00Z') });
    expect(await chosen({ accounts: [one, await twitter()] })).toMatchObject({
      slot_at: '2026-11-24T09:00:00.000Z', blocked: 1, skipped: [{ slot_at: monday.toISOString(), reason: 'minimum_gap', account_id: one.id, post_id: other.id }],
    });
    expect((await chosen({ accounts: [await twitter()] })).slot_at).toBe(monday.toISOString());
  });

  test('a post exactly as far away as the gap does not', async () => {
    const one = await twitter();
    await placed(world, { account: one, at: new Date('2026-11-23T09:30:00Z') });
    expect((await chosen({ accounts: [one] })).slot_at).toBe(monday.toISOString());
  });

  test('the gap of the account counts where it is larger', async () => {
    const one = await twitter({ minGapSeconds: 86_400 });
    await placed(world, { account: one, at: new Date('2026-11-23T20:00:00Z') });
    expect(await chosen({ accounts: [one] })).toMatchObject({ slot_at: '2026-11-25T09:00:00.000Z', minimum_gap_seconds: 86_400 });
  });

  test.each([
    ['a draft does not', { status: 'draft', post: { status: 'draft', scheduledAt: null } }, false],
    ['one that failed does not', { status: 'failed' }, false],
    ['a deleted one does not', { post: { deletedAt: NOW } }, false],
    ['one that is being published then does', { status: 'publishing', waitingUntil: new Date('2026-11-23T08:50:00Z'), post: { scheduledAt: NOW } }, true],
    ['one that was published just now does', { status: 'published', publishedAt: new Date('2026-11-23T08:50:00Z'), post: { scheduledAt: NOW } }, true],
    ['one that was published before the gap does not', { status: 'published', publishedAt: new Date('2026-11-23T08:30:00Z'), post: { scheduledAt: monday } }, false],
  ] as const)('%s', async (_what, { post = {}, ...target }: any, isBlocking) => {
    const one = await twitter();
    await placed(world, { account: one, at: monday, post, target });
    expect((await chosen({ accounts: [one] })).slot_at === monday.toISOString()).toBe(!isBlocking);
  });

  test("a queue's slot that another post of the workspace has, whatever its accounts; not one of another workspace", async () => {
    const [mine, theirs] = await Promise.all([0, 1].map(() => workspace(world.api.infra, { organizationId: home.organizationId })));
    const { id: queueId } = await home.schedule(slotsAt('UTC', [1, '09:00'], [2, '09:00']));
    const other = await placed(world, { account: await twitter({ workspaceId: mine!.id }), at: monday });
    await placed(world, { account: await twitter({ workspaceId: theirs!.id }), at: new Date('2026-11-24T09:00:00Z') });
    expect(await chosen({ accounts: [await twitter({ workspaceId: mine!.id })] })).toMatchObject({
      queue_id: queueId, slot_at: '2026-11-24T09:00:00.000Z', skipped: [{ slot_at: monday.toISOString(), reason: 'slot_taken', account_id: null, post_id: other.id }],
    });
  });

  test('the daily budget, spent by posts that are planned', async () => {
    const one = await twitter({ dailyBudget: 2 });
    for (const time of ['2026-11-23T01:00:00Z', '2026-11-23T02:00:00Z']) await placed(world, { account: one, at: new Date(time) });
    expect(await chosen({ accounts: [one] })).toMatchObject({ slot_at: '2026-11-24T09:00:00.000Z', skipped: [{ reason: 'daily_budget', account_id: one.id, post_id: null }] });
  });

  test('the daily budget, spent by what was sent; what was proved not sent gives its unit back', async () => {
    const one = await twitter({ dailyBudget: 1 });
    await home.schedule(slotsAt('UTC', [6, '20:00'], [1, '09:00']));
    const attempt = await sendingAttempt(world.api.infra, { account: one, at: new Date('2026-11-21T02:00:00Z') });
    expect((await chosen({ accounts: [one] })).slot_at).toBe('2026-11-23T09:00:00.000Z');
    await settleAttempt(world.api.infra, attempt, { kind: 'failed', error: { code: 'PROVIDER_REJECTED', platformMessage: 'no' } });
    expect((await inScope(world.api.infra.db, SYSTEM, (tx) => tx.findOneOrFail(OperationEntity, { id: attempt.operation.id }))).status).toBe('failed');
    expect((await chosen({ accounts: [one] })).slot_at).toBe('2026-11-21T20:00:00.000Z');
  });

  test('not its own old slot, when it is placed anew', async () => {
    const one = await twitter();
    await home.schedule(slotsAt('UTC', [1, '09:00']));
    const { id } = await placed(world, { account: one, at: monday });
    expect((await chosen({ accounts: [one] })).slot_at).toBe('2026-11-30T09:00:00.000Z');
    expect((await chosen({ accounts: [one], exceptPostId: id })).slot_at).toBe(monday.toISOString());
  });

  test('posts of the same transaction, once they are flushed', async () => {
    const one = await twitter();
    const slots = await inScope(world.api.infra.db, tenant(one), async (tx) => {
      const found: string[] = [];
      for (let item = 0; item < 3; item += 1) {
        const choice = await chooseSlot(tx, { accounts: [one], workspaceId: null, timezone: null, now: NOW, lock: true });
        if (choice.kind === 'none') throw new Error('none');
        found.push(choice.at.toISOString());
        addPlaced(tx, { account: one, at: choice.at });
        await flush(tx);
      }
      return found;
    });
    expect(slots).toEqual(['2026-11-23T09:00:00.000Z', '2026-11-24T09:00:00.000Z', '2026-11-25T09:00:00.000Z']);
  });
});

describe('twenty at once', () => {
  let db: Database;
  beforeAll(async () => {
    db = await openDatabase({ url: world.api.databaseUrl, pool: 20 });
  });
  afterAll(() => db?.close(true));

  test('never get one slot of a queue, though their accounts differ', async () => {
    await home.schedule(slotsAt('Europe/Berlin', [1, '08:00'], [2, '08:00'], [3, '08:00'], [4, '08:00'], [5, '08:00'], [6, '08:00'], [0, '08:00']));
    const accounts = await Promise.all(Array.from({ length: 20 }, () => twitter()));
    const slots = await Promise.all(accounts.map((one) => take([one])));
    expect(new Set(slots).size).toBe(20);
  });

  test('never come closer than the gap on accounts that they share, without a queue', async () => {
    const [a, b, c] = [await twitter(), await twitter({ platform: 'mastodon' }), await twitter({ platform: 'instagram' })];
    const slots = await Promise.all(Array.from({ length: 20 }, (_, index) => take(index % 2 === 0 ? [a, b, c] : [c, b])));
    const times = slots.toSorted((x, y) => x - y);
    expect(times.slice(1).every((time, index) => time - times[index]! >= 4 * 3_600_000)).toBe(true);
  });

  test('one that ends without a commit leaves its slot to the next', async () => {
    const one = await twitter();
    await expect(inScope(db, tenant(one), async (tx) => {
      const choice = await chooseSlot(tx, { accounts: [one], workspaceId: null, timezone: null, now: NOW, lock: true });
      addPlaced(tx, { account: one, at: (choice as { at: Date }).at });
      await flush(tx);
      throw new Error('on purpose');
    })).rejects.toThrow('on purpose');
    expect((await chosen({ accounts: [one] })).slot_at).toBe('2026-11-23T09:00:00.000Z');
  });

  /** Takes the slot as a creation does: in one transaction with the post's rows. */
  async function take(accounts: SlotRequest['accounts']): Promise<number> {
    return inScope(db, tenant(accounts[0]!), async (tx) => {
      const choice = await chooseSlot(tx, { accounts, workspaceId: null, timezone: null, now: NOW, lock: true });
      if (choice.kind === 'none') throw new Error('none');
      for (const one of accounts) addPlaced(tx, { account: one, at: choice.at });
      return choice.at.getTime();
    });
  }
});
