import { expect, test } from '@jest/globals';
import { OperationEntity } from '../../../infra/db/entities/operation.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { Caller } from '../../support/caller.ts';
import type { System, Tenant } from '../../support/system.ts';
import { until } from '../../support/until.ts';
import { useWholeSystem } from '../../support/whole-system.ts';

/* Reads, probes and verdicts on what really happened: worker, workflows and sandbox included. Every reply is checked against its schema. */

let system: System;
let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ system, tenant, caller } = whole);
});

/** Its answer is lost, and no listing shows it. */
async function unknownOn(platform: string): Promise<{ post: any; id: string }> {
  const account = tenant.accounts[platform]!;
  const published = await caller.publish({ targets: [account.id], content: `nobody knows [[sandbox:drop-after]] [[sandbox:hide-listing]]` });
  const post = await caller.ended(published.id);
  expect(Caller.state(post, account.id)).toBe('failed PROVIDER_OUTCOME_UNKNOWN');
  return { post, id: post.targets[account.id].accounts[0].operation_id };
}
const haveNoRecentRead = (id: string) => inScope(system.db, SYSTEM, (tx) => tx.nativeUpdate(OperationEntity, { id }, { lastProbeAt: new Date(Date.now() - 120_000), nextProbeAt: new Date(Date.now() + 60_000) }));
const stateOf = async (id: string) => (await system.client.workflow.getHandle(`reconcile/${id}`).describe().catch(() => null))?.status.name;
const reconciling = (id: string) => until(`reconcile/${id} runs`, async () => (await stateOf(id)) === 'RUNNING');

test('an unknown outcome is readable in every part', async () => {
  const { id } = await unknownOn('twitter');
  const parts = await Promise.all(['', '/timeline', '/evidence', '/request', '/verdicts'].map((part) => caller.get(`/v1/operations/${id}${part}`)));
  expect(parts.map((one) => one.status)).toEqual([200, 200, 200, 200, 200]);
  expect(parts[0]!.body).toMatchObject({ status: 'unknown', probing: 'active', workflow: { id: `reconcile/${id}`, ui_url: expect.stringContaining(`reconcile%2F${id}`) } });
  expect(parts[3]!.body.data.digest).toMatch(/^[0-9a-f]{64}$/);
  expect((await caller.get('/v1/operations?status=unknown&include=steps')).body.data.map((one: any) => one.id)).toContain(id);
}, 60_000);

test('a requested read is done at once, and a terminated reconciliation is started again for it', async () => {
  const { id } = await unknownOn('twitter');
  await reconciling(id);
  await system.client.workflow.getHandle(`reconcile/${id}`).terminate('an operator');
  await haveNoRecentRead(id);
  const before = (await caller.get(`/v1/operations/${id}`)).body;
  const { status, body } = await caller.post(`/v1/operations/${id}/probe`);
  expect([status, body.status]).toEqual([200, 'unknown']);
  expect(body.evidence_count).toBeGreaterThan(before.evidence_count);
  expect(body.timeline.map((entry: any) => entry.type)).toEqual(expect.arrayContaining(['probe_requested', 'probe_started', 'probe_finished']));
  expect(await stateOf(id)).toBe('RUNNING');
  const tooSoon = await caller.post(`/v1/operations/${id}/probe`);
  expect([tooSoon.status, tooSoon.body.error.code]).toEqual([429, 'RATE_LIMITED']);
}, 60_000);

test('a verdict with the address of the public page settles, and the reconciliation ends', async () => {
  const { post, id } = await unknownOn('twitter');
  const [entry] = await caller.ledger({ post_id: post.id });
  expect((await fetch(entry.url)).status).toBe(200);
  const { revision } = (await caller.get(`/v1/operations/${id}`)).body;
  const { status, body } = await caller.post(`/v1/operations/${id}/verdict`, { outcome: 'published', url: entry.url, reason: 'It is on its page.', expected_revision: revision });
  expect([status, body.status, body.result?.platform_post_id]).toEqual([200, 'succeeded', entry.object_id]);
  expect((await caller.get(`/v1/posts/${post.id}`)).body.status).toBe('published');
  expect(await system.client.workflow.getHandle(`reconcile/${id}`).result()).toBe('succeeded');
  expect((await caller.get(`/v1/sandbox/ledger/summary?post_id=${post.id}`)).body.data).toMatchObject({ entries: 1, objects: 1, targets: 1, doubles: 0 });
}, 60_000);

test('a negative verdict keeps the reconciliation for its safety reads, and opens the way for a retry', async () => {
  const { post, id } = await unknownOn('twitter');
  await reconciling(id);
  const target = Object.values<any>(post.targets)[0].accounts[0];
  const { status, body } = await caller.post(`/v1/posts/${post.id}/targets/${target.target_id}/reconcile`, { outcome: 'failed', publish_operation_id: id, error_code: 'X', error_message: 'Not there.' });
  expect([status, body.operation.status, body.operation.probing]).toEqual([200, 'failed', 'none']);
  expect(Date.parse(body.operation.next_probe_at)).toBeGreaterThan(Date.now() + 3_500_000);
  expect(await stateOf(id)).toBe('RUNNING');
}, 60_000);
