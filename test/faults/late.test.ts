import { expect, test } from '@jest/globals';
import { Caller } from '../support/caller.ts';
import type { Tenant } from '../support/system.ts';
import { until } from '../support/until.ts';
import { useWholeSystem } from '../support/whole-system.ts';

/* The catch-up rule, measured again right before each claim: a wait for the platform can make a post too late. */

let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ tenant, caller } = whole);
});

test('hold: a post of which nothing was sent is a draft again, says why, and publishes when it is scheduled anew', async () => {
  const { id: accountId } = tenant.accounts.twitter!;
  const post = await caller.publish({ targets: [accountId], content: 'held [[sandbox:rate-limit=3]]', catch_up: { max_lateness_seconds: 1, on_late: 'hold' } });
  const held = await until('the post is held', async () => {
    const { body } = await caller.get(`/v1/posts/${post.id}`);
    return body.status === 'publishing' ? null : body;
  });
  expect([held.status, held.hold_reason, held.scheduled_at, Caller.state(held, accountId)]).toEqual(['draft', 'late', null, 'draft']);
  expect(await caller.ledger({ post_id: post.id })).toEqual([]);
  const { operation_id: operationId } = held.targets[accountId].accounts[0];
  const operation = (await caller.get(`/v1/operations/${operationId}`)).body;
  expect([operation.status, operation.error.code]).toEqual(['failed', 'CANCELLED']);
  expect((await caller.patch(`/v1/posts/${post.id}`, { scheduled_at: 'now' })).status).toBe(200);
  const ended = await caller.ended(post.id);
  expect([ended.status, ended.hold_reason]).toEqual(['published', null]);
  expect(await caller.ledger({ post_id: post.id })).toHaveLength(1);
}, 60_000);

test('skip: the target fails with its own code, and a retry publishes it', async () => {
  const { id: accountId } = tenant.accounts.mastodon!;
  const post = await caller.publish({ targets: [accountId], content: 'skipped [[sandbox:rate-limit=3]]', catch_up: { max_lateness_seconds: 1, on_late: 'skip' } });
  const skipped = await caller.ended(post.id);
  expect(Caller.state(skipped, accountId)).toBe('failed SCHEDULE_MISSED');
  expect((await caller.post(`/v1/posts/${post.id}/retry`)).status).toBe(200);
  expect((await caller.ended(post.id)).status).toBe('published');
}, 60_000);
