import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { workflowIds } from '../../infra/contract/workflows.ts';
import { OutboxEntity } from '../../infra/db/entities/outbox.entity.ts';
import { PostEntity } from '../../infra/db/entities/post.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { atOnce } from '../bench/stats.ts';
import { Caller } from '../support/caller.ts';
import { System } from '../support/system.ts';
import { until } from '../support/until.ts';

/* One organization with many posts that are due at the same instant as another's only post. The whole system is real. */

const CROWD = 300;
const ACCEPTED_WITHIN_MS = 15_000;

let system: System;

beforeAll(async () => {
  system = await System.start({ LOG_LEVEL: 'warn' });
}, 120_000);

afterAll(async () => {
  await system?.stop();
});

/** What became public of an organization, page by page. */
async function publications(caller: Caller): Promise<{ post_id: string; at: string }[]> {
  const found: { post_id: string; at: string }[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await caller.get(`/v1/sandbox/ledger?limit=100${cursor}`);
    found.push(...body.data);
    if (!body.has_more) return found;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

test('300 posts of one organization and one of another, due at once: all go out once, and the lone one is far from the last', async () => {
  const [crowd, lone] = [await system.tenant(), await system.tenant()];
  const [many, one] = [new Caller(system.baseUrl, crowd.testKey), new Caller(system.baseUrl, lone.testKey)];
  const dueAt = new Date(Date.now() + ACCEPTED_WITHIN_MS).toISOString();
  const publish = (caller: Caller, account: string, n: number) => caller.publish({ targets: [account], content: `due at once ${n}`, scheduled_at: dueAt });
  const ids = (await atOnce(Array.from({ length: CROWD }, (_, n) => n), 20, (n) => publish(many, crowd.accounts.twitter!.id, n))).map((post) => post.id as string);
  // The last to be accepted, so that no order of acceptance helps it.
  const { id } = await publish(one, lone.accounts.twitter!.id, CROWD);
  await until('Temporal knows of every post', async () => (await inScope(system.db, SYSTEM, (tx) => tx.count(OutboxEntity, { intent: 'start' }))) === 0);
  await until('all have ended', async () => (await inScope(system.db, SYSTEM, (tx) => tx.count(PostEntity, { status: { $in: ['scheduled', 'publishing'] } }))) === 0, 120_000);
  const sent = await publications(many);
  expect(sent.map((entry) => entry.post_id).toSorted()).toEqual(ids.toSorted());
  const [entry, ...more] = await publications(one);
  expect([entry!.post_id, more]).toEqual([id, []]);
  const before = sent.filter(({ at }) => at < entry!.at).length;
  expect(before).toBeLessThan(CROWD / 6);
}, 180_000);

test('what was accepted while Temporal was away is told in turns: the lone post does not wait behind the other organization\'s', async () => {
  const [crowd, lone] = [await system.tenant(), await system.tenant()];
  const [many, one] = [new Caller(system.baseUrl, crowd.testKey), new Caller(system.baseUrl, lone.testKey)];
  await system.worker.stop();
  await system.temporal.kill();
  const publish = (caller: Caller, account: string, n: number) => caller.publish({ targets: [account], content: `without Temporal ${n}` });
  const ids = (await atOnce(Array.from({ length: CROWD }, (_, n) => n), 20, (n) => publish(many, crowd.accounts.twitter!.id, n))).map((post) => post.id as string);
  const { id } = await publish(one, lone.accounts.twitter!.id, CROWD);
  await system.temporal.restart();
  await system.worker.start();
  await until('Temporal was told of every post', async () => (await inScope(system.db, SYSTEM, (tx) => tx.count(OutboxEntity, { intent: 'start' }))) === 0, 120_000);
  const startOf = async (postId: string) => (await system.client.workflow.getHandle(workflowIds.publishPost(postId, 1)).describe()).startTime.getTime();
  const loneStart = await startOf(id);
  const starts = await atOnce(ids, 20, startOf);
  // Rows are told in batches of 100, and in the first one the lone post has its place.
  expect(starts.filter((start) => start < loneStart).length).toBeLessThan(100);
}, 240_000);
