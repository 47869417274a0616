import { expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { Caller } from '../../support/caller.ts';
import type { System, Tenant } from '../../support/system.ts';
import { useWholeSystem } from '../../support/whole-system.ts';

/* A sandbox account that a behaviour broke for good must not be lost to its owner: there may be no other one. */

let system: System;
let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ system, tenant, caller } = whole);
});

async function broken(accountId: string): Promise<void> {
  expect((await caller.patch(`/v1/accounts/${accountId}`, { sandbox_behaviour: 'token_revoked' })).status).toBe(200);
  const post = await caller.ended((await caller.publish({ targets: [accountId], content: 'with a revoked token' })).id);
  expect(post.status).toBe('failed');
  expect((await caller.get(`/v1/accounts/${accountId}`)).body.status).toBe('reconnect_required');
}

async function expectWorks(accountId: string): Promise<void> {
  const { body } = await caller.get(`/v1/accounts/${accountId}`);
  expect([body.status, body.status_reason, body.sandbox_behaviour]).toEqual(['active', null, 'normal']);
  expect((await caller.ended((await caller.publish({ targets: [accountId], content: 'again' })).id)).status).toBe('published');
}

test.each(['twitter', 'mastodon'])('%s: the behaviour normal connects it again', async (platform) => {
  const { id } = tenant.accounts[platform]!;
  await broken(id);
  expect((await caller.patch(`/v1/accounts/${id}`, { sandbox_behaviour: 'normal' })).status).toBe(200);
  await expectWorks(id);
}, 60_000);

test('a reset connects it again', async () => {
  const { id } = tenant.accounts.twitter!;
  await broken(id);
  expect((await caller.post('/v1/sandbox/reset', { account_ids: [id] })).status).toBe(200);
  await expectWorks(id);
}, 60_000);

test('who has to connect it again is told how many targets wait for that, those of deleted posts left out', async () => {
  const { accounts: { twitter }, testKey } = await system.tenant();
  const own = new Caller(system.baseUrl, testKey);
  const draft = async () => (await own.publish({ targets: [twitter!.id], content: 'later', scheduled_at: 'draft' })).id as string;
  const [, , deleted] = [await draft(), await draft(), await draft()];
  expect((await own.delete(`/v1/posts/${deleted}`)).status).toBe(204);
  await own.patch(`/v1/accounts/${twitter!.id}`, { sandbox_behaviour: 'token_revoked' });
  await own.ended((await own.publish({ targets: [twitter!.id], content: 'with a revoked token' })).id);
  const [event] = await inScope(system.db, SYSTEM, (tx) => tx.execute<{ data: { scheduled_targets: number } }[]>(`select data from event where event = 'account.reconnect_required' and subject_id = ?`, [twitter!.id]));
  expect(event!.data.scheduled_targets).toBe(2);
}, 60_000);
