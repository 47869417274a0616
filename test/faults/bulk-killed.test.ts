import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { Caller } from '../support/caller.ts';
import { expectInvariants } from '../support/invariants.ts';
import { System, type Tenant } from '../support/system.ts';
import type { Tapped } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

/*
 * An API process that dies while it accepts many posts at once: all that are good exist, or none; never some. And what
 * starts together starts one after the other.
 */

let system: System;
let tenant: Tenant;
let caller: Caller;

beforeAll(async () => {
  system = await System.start();
  tenant = await system.tenant();
  caller = new Caller(system.baseUrl, tenant.testKey);
}, 120_000);

afterAll(async () => {
  await system?.stop();
});

/** Holds the API where it commits what it was sent with this marker. */
function holdCommit(marker: string, side: 'before the commit' | 'after the commit'): Promise<Tapped> {
  return new Promise((resolve) => {
    system.databaseProxy.tap = ({ direction, bytes, connection }) => {
      const { notes } = connection;
      const text = bytes.toString('latin1');
      if (direction === 'to_server' && text.includes(marker)) notes.accepting = true;
      const commits = direction === 'to_server' && notes.accepting === true && /\bcommit\b/i.test(text);
      if (commits) notes.committing = true;
      const stop = side === 'before the commit' ? commits : direction === 'to_client' && notes.committing === true;
      if (!stop) return 'pass';
      system.databaseProxy.tap = () => 'pass';
      resolve(connection);
      return 'hold';
    };
  });
}

async function counts(marker: string, key: string) {
  const [row] = await inScope(system.db, SYSTEM, (tx) => tx.execute<{ posts: number; orphans: number; receipts: number }[]>(
    `select (select count(*)::integer from post where content like ?) as posts, (select count(*)::integer from receipt where key = ?) as receipts,
            (select count(*)::integer from outbox o where o.id like 'start:post/%' and not exists (select from post p where o.id = 'start:post/' || p.id || '/' || p.seq)) as orphans`, [`${marker}%`, key]));
  return row!;
}

test.each(['before the commit', 'after the commit'] as const)('kill -9 of the API %s: all posts of a bulk or none, and each once', async (side) => {
  const account = tenant.accounts.mastodon!;
  const marker = `bulk ${randomUUID()}`;
  const key = randomUUID();
  const post = (name: string) => ({ targets: [account.id], scheduled_at: 'now', content: `${marker} ${name}` });
  const body = { posts: [post('one'), { ...post('bad'), targets: ['nowhere'] }, post('two'), post('three')] };
  const reached = holdCommit(marker, side);
  const lost = caller.post('/v1/posts/bulk', body, { 'idempotency-key': key }).catch(() => null);
  await reached;
  await system.api.kill();
  expect(await lost).toBeNull();
  const kept = side === 'after the commit';
  expect(await counts(marker, key)).toEqual({ posts: kept ? 3 : 0, receipts: kept ? 1 : 0, orphans: 0 });
  await system.api.start();
  const answer = await until('the replay is answered', async () => {
    const again = await caller.post('/v1/posts/bulk', body, { 'idempotency-key': key });
    return again.status === 201 ? again : null;
  });
  expect([answer.headers.get('idempotency-replayed'), answer.body.summary]).toEqual([String(kept), { total: 4, succeeded: 3, failed: 1 }]);
  expect(await counts(marker, key)).toEqual({ posts: 3, receipts: 1, orphans: 0 });
  const ids: string[] = answer.body.data.filter((one: any) => one.id !== undefined).map((one: any) => one.id);
  for (const id of ids) expect(Caller.state(await caller.ended(id), account.id)).toBe('published');
  for (const name of ['one', 'two', 'three']) expect(await caller.ledger({ text: `${marker} ${name}` })).toHaveLength(1);
  await expectInvariants(caller, ids);
}, 90_000);

test('posts that are due together start in order, each not before its turn', async () => {
  const account = tenant.accounts.mastodon!;
  const posts = Array.from({ length: 12 }, (_, at) => ({ targets: [account.id], scheduled_at: 'now', content: `turn ${at} ${randomUUID()}` }));
  const { body } = await caller.post('/v1/posts/bulk', { posts });
  for (const { id } of body.data) expect(Caller.state(await caller.ended(id), account.id)).toBe('published');
  const starts = await Promise.all(body.data.map(async ({ id }: { id: string }) => (await system.client.workflow.getHandle(`post/${id}/1`).describe()).startTime.getTime()));
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  for (const [index, at] of starts.entries()) expect(at).toBeGreaterThanOrEqual(new Date(body.data[index].created_at).getTime() + (index + 1) * 100);
}, 90_000);
