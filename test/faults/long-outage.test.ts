import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Platform } from '../../infra/contract/platforms.ts';
import { AccountEntity, type Account } from '../../infra/db/entities/account.entity.ts';
import { OperationEntity } from '../../infra/db/entities/operation.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { Caller } from '../support/caller.ts';
import { System, type Tenant } from '../support/system.ts';
import { ByTheClock } from './by-the-clock.ts';

/*
 * Nothing ran for three days. The API, PostgreSQL, the sandbox and the activities are real; no worker runs, and the time
 * and the timers are the test's own, so that days pass in seconds.
 */

const DAY_MS = 86_400_000;
const POSTS = 200;
const GAP_SECONDS = 300;
const CATCH_UP_SECONDS = 60;

let system: System;
let tenant: Tenant;
let caller: Caller;
let clock: ByTheClock;

beforeAll(async () => {
  system = await System.start();
  await system.worker.stop();
  tenant = await system.tenant();
  caller = new Caller(system.baseUrl, tenant.testKey);
}, 120_000);

afterAll(async () => {
  await clock?.close();
  await system?.stop();
});

async function openAccount(platform: Platform, ordinal: number, minGapSeconds = 0): Promise<Account> {
  const account = await system.openAccount({ organizationId: tenant.organizationId, platform, ordinal });
  await inScope(system.db, SYSTEM, (tx) => tx.nativeUpdate(AccountEntity, { id: account.id }, { minGapSeconds }));
  return { ...account, minGapSeconds };
}

interface Scheduled {
  id: string;
  account: Account;
  dueMs: number;
  rule: string;
}

const RULES: Record<string, { catch_up?: Record<string, unknown>; ends: string }> = {
  publish: { catch_up: { on_late: 'publish' }, ends: 'published' },
  'hold, with a limit that is not reached': { catch_up: { on_late: 'hold', max_lateness_seconds: 2_592_000 }, ends: 'published' },
  skip: { catch_up: { on_late: 'skip' }, ends: 'failed SCHEDULE_MISSED' },
  hold: { catch_up: { on_late: 'hold' }, ends: 'draft' },
  'the default': { ends: 'draft' },
};

async function schedule(account: Account, { dueMs, rule, content }: { dueMs: number; rule: string; content: string }): Promise<Scheduled> {
  const { id } = await caller.publish({ targets: [account.id], content, scheduled_at: new Date(dueMs).toISOString(), ...(RULES[rule]!.catch_up ? { catch_up: RULES[rule]!.catch_up } : {}) });
  return { id, account, dueMs, rule };
}

const read = async ({ id }: { id: string }) => (await caller.get(`/v1/posts/${id}`)).body;
const kinds = async ({ id }: { id: string }) => (await caller.get(`/v1/posts/${id}/timeline?limit=100`)).body.data.map((one: any) => one.kind) as string[];

/** What became public on an account, in the order in which the sandbox saw it. */
async function published(account: Account): Promise<string[]> {
  return (await caller.ledger({ account_id: account.id })).toSorted((a, b) => a.ordinal - b.ordinal).map((entry) => entry.post_id);
}

/** By the test's clock. */
async function claimedAt(posts: readonly Scheduled[]): Promise<number[]> {
  const operations = await inScope(system.db, SYSTEM, (tx) => tx.find(OperationEntity, { postId: { $in: posts.map((post) => post.id) } }));
  return posts.map((post) => operations.find((one) => one.postId === post.id)!.claimedAt!.getTime());
}

/** Due a second apart, the oldest first. */
async function lateOnes(account: Account, count: number): Promise<Scheduled[]> {
  const first = Date.now() + 60_000;
  const posts: Scheduled[] = [];
  for (let n = 0; n < count; n++) posts.push(await schedule(account, { dueMs: first + n * 1000, rule: 'publish', content: `late ${n}` }));
  return posts;
}

const gaps = (times: readonly number[]) => times.slice(1).map((time, i) => (time - times[i]!) / 1000);

test('200 posts that came due while nothing ran: each ends by its own rule, and what goes out goes in order, apart and once', async () => {
  const accounts = [await openAccount('twitter', 11), await openAccount('twitter', 12, GAP_SECONDS), await openAccount('twitter', 13), await openAccount('mastodon', 11), await openAccount('mastodon', 12)];
  const first = Date.now() + 3_600_000;
  const posts: Scheduled[] = [];
  for (let i = 0; i < POSTS; i++) {
    // 83 and 200 have no common divisor: every due time once, and none in the order of creation.
    const n = (i * 83) % POSTS;
    const rule = Object.keys(RULES)[Math.floor(n / accounts.length) % 5]!;
    posts.push(await schedule(accounts[n % accounts.length]!, { dueMs: first + n * 20_000, rule, content: `post ${n}: ${rule}` }));
  }
  const end = new Date(first + 3 * DAY_MS);
  clock = await ByTheClock.open(system, end);
  // Due while the others catch up, on an account without a gap: what is on time does not wait for what is late.
  const onTime = await schedule(accounts[0]!, { dueMs: end.getTime() + 200_000, rule: 'publish', content: 'on time' });
  for (const post of [...posts, onTime]) clock.publish(post.id, new Date(Math.max(post.dueMs, end.getTime())));

  await clock.run(end);
  const waiting = posts.filter((post) => post.account === accounts[0] && RULES[post.rule]!.ends === 'published').toSorted((a, b) => a.dueMs - b.dueMs);
  const [sent, next, ...rest] = await Promise.all(waiting.map(read));
  expect([sent.status, ...[next, ...rest].map((post) => post.status)]).toEqual(['published', ...[next, ...rest].map(() => 'publishing')]);
  const [second] = next.targets[accounts[0]!.id].accounts;
  expect([second.waiting_for, second.waiting_until]).toEqual(['rate_budget', new Date(end.getTime() + CATCH_UP_SECONDS * 1000).toISOString()]);
  expect(await kinds(next)).toEqual(expect.arrayContaining(['late', 'began', 'paced']));

  await clock.run();
  for (const post of posts) {
    const body = await read(post);
    expect([post.rule, Caller.state(body, post.account.id)]).toEqual([post.rule, RULES[post.rule]!.ends]);
    expect(body.hold_reason).toBe(RULES[post.rule]!.ends === 'draft' ? 'late' : null);
  }
  expect(await kinds(posts.find((post) => post.rule === 'skip')!)).toEqual(expect.arrayContaining(['late', 'skipped', 'target_changed', 'post_changed']));
  expect(await kinds(posts.find((post) => post.rule === 'hold')!)).toEqual(expect.arrayContaining(['late', 'held', 'target_changed']));
  expect(await claimedAt([onTime])).toEqual([onTime.dueMs]);
  for (const account of accounts) {
    const expected = posts.filter((post) => post.account === account && RULES[post.rule]!.ends === 'published').toSorted((a, b) => a.dueMs - b.dueMs);
    expect((await published(account)).filter((id) => id !== onTime.id)).toEqual(expected.map((post) => post.id));
    // Never closer, and no place is left empty.
    const apart = account.minGapSeconds === 0 ? CATCH_UP_SECONDS : GAP_SECONDS;
    expect(gaps(await claimedAt(expected))).toEqual(expected.slice(1).map(() => apart));
  }
}, 180_000);

test('a late post that nobody carries holds the younger ones for two minutes, and goes before them when it comes', async () => {
  const account = await openAccount('twitter', 21);
  const [oldest, second, third] = await lateOnes(account, 3);
  const [operation] = await clock.begin(oldest!.id);
  const start = clock.now.getTime();
  for (const post of [third!, second!]) clock.publish(post.id);
  clock.carry(operation!, new Date(start + 150_000));
  await clock.run();
  expect(await published(account)).toEqual([second!.id, oldest!.id, third!.id]);
  expect((await claimedAt([second!, oldest!, third!])).map((time) => (time - start) / 1000)).toEqual([120, 180, 240]);
}, 60_000);

test('a late post that waits for its platform holds nobody', async () => {
  const account = await openAccount('twitter', 22);
  const [oldest, second] = await lateOnes(account, 2);
  const start = clock.now.getTime();
  const [operation] = await clock.begin(oldest!.id);
  const until = new Date(start + 30_000);
  await inScope(system.db, SYSTEM, (tx) => tx.execute(`update target set waiting_for = 'provider_processing', waiting_until = ? where operation_id = ?`, [until, operation!]));
  clock.publish(second!.id);
  clock.carry(operation!);
  await clock.run();
  expect(await published(account)).toEqual([second!.id, oldest!.id]);
  expect((await claimedAt([second!, oldest!])).map((time) => (time - start) / 1000)).toEqual([0, 60]);
}, 60_000);

test('a wait for the account that would end too late by the catch-up rule ends with the rule', async () => {
  const account = await openAccount('twitter', 23, 3_600);
  const dueMs = clock.now.getTime() - Math.floor((clock.now.getTime() - Date.now() - 60_000) / 1000) * 1000;
  const sent = await schedule(account, { dueMs, rule: 'publish', content: 'sent' });
  const lateness = Math.ceil((clock.now.getTime() - dueMs) / 1000);
  const { id } = await caller.publish({ targets: [account.id], content: 'too late', scheduled_at: new Date(dueMs + 1_000).toISOString(), catch_up: { on_late: 'hold', max_lateness_seconds: lateness + 600 } });
  for (const post of [sent.id, id]) clock.publish(post);
  await clock.run();
  const body = await read({ id });
  expect([body.status, body.hold_reason]).toEqual(['draft', 'late']);
  expect(clock.now.getTime()).toBe(dueMs + 1_000 + (lateness + 601) * 1000);
  expect(await published(account)).toEqual([sent.id]);
}, 60_000);

test('an account\'s daily budget is never exceeded, however many come due at once, and the oldest go first', async () => {
  const account = await openAccount('mastodon', 21);
  await inScope(system.db, SYSTEM, (tx) => tx.execute('update account set daily_budget = 3 where id = ?', [account.id]));
  const dueMs = clock.now.getTime() + 60_000;
  const posts: Scheduled[] = [];
  for (let n = 0; n < 6; n++) posts.push(await schedule(account, { dueMs: dueMs + n, rule: 'publish', content: `within the budget or not: ${n}` }));
  for (const post of posts.toReversed()) clock.publish(post.id, new Date(dueMs + 10));
  await clock.run();
  expect((await published(account)).toSorted()).toEqual(posts.slice(0, 3).map((post) => post.id).toSorted());
  const states = await Promise.all(posts.map(async (post) => Caller.state(await read(post), account.id)));
  expect(states).toEqual(['published', 'published', 'published', 'failed RATE_LIMITED', 'failed RATE_LIMITED', 'failed RATE_LIMITED']);
}, 60_000);
