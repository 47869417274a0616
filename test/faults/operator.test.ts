import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Caller } from '../support/caller.ts';
import { expectInvariants } from '../support/invariants.ts';
import { caught } from '../support/moments.ts';
import type { System, Tenant } from '../support/system.ts';
import { until } from '../support/until.ts';
import { useWholeSystem } from '../support/whole-system.ts';

/* What an operator can do in the Temporal UI or with its CLI, during and after a call. The row decides what is sent, not Temporal. */

const NAMESPACE = 'default';

let system: System;
let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ system, tenant, caller } = whole);
});

async function published(content: string) {
  const post = await caller.publish({ targets: [tenant.accounts.twitter!.id], content });
  await caller.ended(post.id);
  return post;
}

/** A post whose request the platform has read, and whose answer is held. */
const inTheCall = (content: string) => caught({ system, caller }, tenant.accounts.twitter!.id, 'after the send', { content });

async function firstWorkflowTask(workflowId: string): Promise<bigint> {
  const { history } = await system.client.workflowService.getWorkflowExecutionHistory({ namespace: NAMESPACE, execution: { workflowId } });
  const event = history!.events!.find((one) => one.workflowTaskCompletedEventAttributes);
  return BigInt(event!.eventId!.toString());
}

test('reset to the first workflow task after success: one entry, the stored outcome', async () => {
  const post = await published('reset after success');
  const workflowId = `post/${post.id}/1`;
  await system.client.workflow.getHandle(workflowId).result();
  const eventId = await firstWorkflowTask(workflowId);
  const { runId } = await system.client.workflowService.resetWorkflowExecution({
    namespace: NAMESPACE, workflowExecution: { workflowId }, workflowTaskFinishEventId: Number(eventId) as never, requestId: randomUUID(), reason: 'an operator',
  });
  expect(await system.client.workflow.getHandle(workflowId, runId).result()).toBe('twitter: succeeded');
  expect(await caller.ledger({ post_id: post.id })).toHaveLength(1);
  await expectInvariants(caller, [post.id]);
}, 60_000);

test('terminate during a call: the API is right as soon as the answer is there', async () => {
  const { post, held } = await inTheCall('terminated in the call');
  await system.client.workflow.getHandle(`post/${post.id}/1`).terminate('an operator');
  held.release();
  const ended = await caller.ended(post.id);
  expect(Caller.state(ended, tenant.accounts.twitter!.id)).toBe('published');
  await expectInvariants(caller, [post.id]);
}, 60_000);

test('activity reset during a call: the call counts, and no second one is made', async () => {
  const { post, held } = await inTheCall('activity reset in the call');
  await system.client.workflowService.resetActivity({ namespace: NAMESPACE, execution: { workflowId: `post/${post.id}/1` }, type: 'carryOut' });
  held.release();
  const ended = await caller.ended(post.id);
  expect(Caller.state(ended, tenant.accounts.twitter!.id)).toBe('published');
  await until('the workflow ends too', () => system.client.workflow.getHandle(`post/${post.id}/1`).result().then(() => true, () => null));
  expect(await caller.ledger({ post_id: post.id, include: 'requests' })).toHaveLength(1);
  await expectInvariants(caller, [post.id]);
}, 60_000);

test('a single-target text post leaves at most 13 history events, and says what it is', async () => {
  const post = await published('a short story');
  const handle = system.client.workflow.getHandle(`post/${post.id}/1`);
  await handle.result();
  const { history } = await system.client.workflowService.getWorkflowExecutionHistory({ namespace: NAMESPACE, execution: { workflowId: `post/${post.id}/1` } });
  expect(history!.events!.length).toBeLessThanOrEqual(13);
  const described = await handle.describe();
  expect(await described.staticSummary()).toBe(`publish ${post.id} → twitter`);
  expect(JSON.stringify(history)).not.toContain('a short story');
}, 60_000);

test('a scheduled post at rest is one history event, and a deleted one never goes out', async () => {
  const post = await caller.publish({ targets: [tenant.accounts.twitter!.id], content: 'deleted in time', scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
  const workflowId = `post/${post.id}/1`;
  const events = await until('the workflow waits', async () => (await system.client.workflowService.getWorkflowExecutionHistory({ namespace: NAMESPACE, execution: { workflowId } }).catch(() => null))?.history?.events);
  expect(events).toHaveLength(1);
  expect((await caller.delete(`/v1/posts/${post.id}`)).status).toBe(204);
  await until('the workflow is cancelled', async () => ((await system.client.workflow.getHandle(workflowId).describe()).status.name === 'CANCELLED' ? true : null));
  expect(await caller.ledger({ text: 'deleted in time' })).toEqual([]);
}, 60_000);
