import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { Caller } from '../support/caller.ts';
import { expectInvariants } from '../support/invariants.ts';
import type { System, Tenant } from '../support/system.ts';
import type { Tapped } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useWholeSystem } from '../support/whole-system.ts';

/*
 * An API process that dies while it accepts a post. No 201 was seen: the same request with the same key gives the one
 * post, or of many at once all that are good or none. A 201 was seen: the post is published, whoever tells Temporal.
 */

let system: System;
let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ system, tenant, caller } = whole);
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

test.each(['before the commit', 'after the commit'] as const)('kill -9 of the API %s: the same request gives one post', async (side) => {
  const account = tenant.accounts.twitter!;
  const content = `accepted ${randomUUID()}`;
  const key = randomUUID();
  const reached = holdCommit(content, side);
  const lost = caller.publish({ targets: [account.id], content }, key).catch(() => null);
  await reached;
  await system.api.kill();
  expect(await lost).toBeNull();
  await system.api.start();
  // A transaction whose client vanished holds its key until PostgreSQL notices.
  const post = await until('the replay is answered', async () => {
    const answer = await caller.post('/v1/posts', { scheduled_at: 'now', allow_duplicate: true, targets: [account.id], content }, { 'idempotency-key': key });
    return answer.status === 201 ? answer : null;
  });
  expect(post.headers.get('idempotency-replayed')).toBe(side === 'after the commit' ? 'true' : 'false');
  const ended = await caller.ended(post.body.id);
  expect(Caller.state(ended, account.id)).toBe('published');
  expect(await caller.ledger({ text: content })).toHaveLength(1);
  expect((await caller.get(`/v1/posts?q=${encodeURIComponent(content)}`)).body.data).toHaveLength(1);
  await expectInvariants(caller, [post.body.id]);
}, 60_000);

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

test('Temporal is away and the API dies after its 201: the post goes out when Temporal is back', async () => {
  const account = tenant.accounts.twitter!;
  system.temporalProxy.sever();
  const post = await caller.publish({ targets: [account.id], content: 'accepted while Temporal was away' });
  await system.api.kill();
  await system.api.start();
  expect((await caller.get(`/v1/posts/${post.id}`)).body.status).toBe('publishing');
  system.temporalProxy.heal();
  const ended = await caller.ended(post.id);
  expect(Caller.state(ended, account.id)).toBe('published');
  await expectInvariants(caller, [post.id]);
}, 90_000);

test('100 simultaneous requests with one key: one post, one workflow', async () => {
  const account = tenant.accounts.twitter!;
  const key = randomUUID();
  const body = { scheduled_at: 'now', targets: [account.id], content: 'one of a hundred' };
  const answers = await Promise.all(Array.from({ length: 100 }, () => caller.post('/v1/posts', body, { 'idempotency-key': key })));
  const created = answers.filter((answer) => answer.status === 201);
  expect(answers.filter((answer) => answer.status !== 201).every((answer) => answer.body.error.code === 'IDEMPOTENCY_IN_PROGRESS')).toBe(true);
  expect(created.filter((answer) => answer.headers.get('idempotency-replayed') === 'false')).toHaveLength(1);
  expect(new Set(created.map((answer) => answer.body.id)).size).toBe(1);
  const postId: string = created[0]!.body.id;
  await caller.ended(postId);
  expect(await caller.ledger({ post_id: postId })).toHaveLength(1);
  const runs = await until('the run is visible', async () => {
    const found = [];
    for await (const run of system.client.workflow.list({ query: `PostId = '${postId}'` })) found.push(run.workflowId);
    return found.length > 0 ? found : null;
  });
  expect(runs).toEqual([`post/${postId}/1`]);
  for (const [other, path] of [[{ ...body, content: 'other bytes' }, '/v1/posts'], [{}, `/v1/posts/${postId}/retry`]] as const) {
    const answer = await caller.post(path, other, { 'idempotency-key': key });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  }
}, 60_000);

test('posts that are due together start in order, each not before its turn', async () => {
  const account = tenant.accounts.mastodon!;
  const posts = Array.from({ length: 12 }, (_, at) => ({ targets: [account.id], scheduled_at: 'now', content: `turn ${at} ${randomUUID()}` }));
  const { body } = await caller.post('/v1/posts/bulk', { posts });
  for (const { id } of body.data) expect(Caller.state(await caller.ended(id), account.id)).toBe('published');
  const starts = await Promise.all(body.data.map(async ({ id }: { id: string }) => (await system.client.workflow.getHandle(`post/${id}/1`).describe()).startTime.getTime()));
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  for (const [index, at] of starts.entries()) expect(at).toBeGreaterThanOrEqual(new Date(body.data[index].created_at).getTime() + (index + 1) * 100);
}, 90_000);
