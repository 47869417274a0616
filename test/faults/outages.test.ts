import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { PostEntity } from '../../infra/db/entities/post.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { Caller } from '../support/caller.ts';
import { expectInvariants } from '../support/invariants.ts';
import { caught, Moments } from '../support/moments.ts';
import type { System, Tenant } from '../support/system.ts';
import { until } from '../support/until.ts';
import { useWholeSystem } from '../support/whole-system.ts';

/* Servers that are killed and come back: what was accepted is published once, and what was not accepted is not there. */

let system: System;
let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ system, tenant, caller } = whole);
});

const both = () => [tenant.accounts.twitter!.id, tenant.accounts.mastodon!.id];

test('PostgreSQL is killed while posts are in every stage', async () => {
  const moments = new Moments(system);
  system.worker.signal('SIGSTOP');
  const posts = await Promise.all(['before the claim', 'after the send', 'waiting'].map((stage) => caller.publish({ targets: both(), content: `PostgreSQL dies ${stage}` })));
  const operationOf = (i: number) => posts[i].targets[tenant.accounts.twitter!.id].accounts[0].operation_id as string;
  const reached = [moments.hold(operationOf(0), 'before the claim'), moments.hold(operationOf(1), 'after the send')];
  system.worker.signal('SIGCONT');
  await Promise.all(reached);
  await system.postgres.kill();
  moments.release();
  const refused = await caller.post('/v1/posts', { scheduled_at: 'now', targets: both(), content: 'while PostgreSQL is away' });
  expect([refused.status, refused.body.error.code, refused.headers.get('x-should-retry')]).toEqual([503, 'SERVICE_UNAVAILABLE', 'true']);
  await system.postgres.restart();
  await until('the API answers again', async () => ((await caller.get('/v1/posts?limit=1')).status === 200 ? true : null));
  const ended = await Promise.all(posts.map((post) => until(`${post.content} is published`, async () => {
    const { body } = await caller.get(`/v1/posts/${post.id}`);
    return body.status === 'published' ? body : null;
  }, 150_000)));
  expect(ended.map((post) => post.status)).toEqual(['published', 'published', 'published']);
  expect((await caller.get(`/v1/posts?q=${encodeURIComponent('while PostgreSQL is away')}`)).body.data).toEqual([]);
  await expectInvariants(caller, posts.map((post) => post.id));
}, 240_000);

test('Temporal is killed: posts are accepted all the same, and go out when it is back', async () => {
  const { post: underWay, held } = await caught({ system, caller }, tenant.accounts.twitter!.id, 'after the send', { targets: both(), content: 'under way when Temporal dies' });
  await system.temporal.kill();
  held.release();
  const accepted = await caller.publish({ targets: both(), content: 'accepted while Temporal was dead' });
  // The answer is settled in the activity itself: the truth does not wait for Temporal.
  await until('the call in flight is settled without Temporal', async () => (Caller.state((await caller.get(`/v1/posts/${underWay.id}`)).body, tenant.accounts.twitter!.id) === 'published' ? true : null));
  await system.temporal.restart();
  for (const post of [underWay, accepted]) {
    const ended = await until(`${post.content} is published`, async () => {
      const { body } = await caller.get(`/v1/posts/${post.id}`);
      return body.status === 'published' ? body : null;
    }, 120_000);
    expect(ended.status).toBe('published');
  }
  await expectInvariants(caller, [underWay.id, accepted.id]);
}, 240_000);

test('a due post whose workflow is gone is found by the sweeper', async () => {
  const at = new Date(Date.now() + 4_000).toISOString();
  const post = await caller.publish({ targets: both(), content: 'scheduled', scheduled_at: at });
  const handle = system.client.workflow.getHandle(`post/${post.id}/1`);
  await until('the workflow waits', () => handle.describe().then(() => true, () => null));
  await handle.terminate('an operator');
  const ended = await caller.ended(post.id, 60_000);
  expect(ended.status).toBe('published');
  await expectInvariants(caller, [post.id]);
}, 120_000);

test('the words of a post that was deleted more than 90 days ago are erased by the sweeper, and what became of it stays', async () => {
  const secret = `erase me ${randomUUID()}`;
  const posts = await Promise.all([0, 1].map(() => caller.publish({ targets: both(), content: secret, notes: secret, scheduled_at: 'draft' })));
  await Promise.all(posts.map((post) => caller.delete(`/v1/posts/${post.id}`)));
  const [old, recent] = posts;
  await inScope(system.db, SYSTEM, (tx) => tx.nativeUpdate(PostEntity, { id: old.id }, { deletedAt: new Date(Date.now() - 91 * 86_400_000) }));
  const rows = (id: string) => inScope(system.db, SYSTEM, async (tx) => JSON.stringify(await tx.execute(
    'select to_jsonb(post), (select jsonb_agg(target) from target where post_id = post.id), (select jsonb_agg(event) from event where subject_id = post.id), (select jsonb_agg(t) from timeline_entry t where t.post_id = post.id) from post where id = ?', [id])));
  const after = await until('the words are erased', async () => {
    const text = await rows(old.id);
    return text.includes(secret) ? null : text;
  });
  expect(after).toContain('swept');
  expect(await rows(recent.id)).toContain(secret);
}, 60_000);
