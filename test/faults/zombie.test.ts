import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { putAbsenceBack } from '../support/absence.ts';
import { Caller } from '../support/caller.ts';
import { expectInvariants } from '../support/invariants.ts';
import { caught } from '../support/moments.ts';
import { Process } from '../support/process.ts';
import { freePort } from '../support/servers.ts';
import type { System, Tenant } from '../support/system.ts';
import { until } from '../support/until.ts';
import { useWholeSystem } from '../support/whole-system.ts';

/* A worker that is stopped in the middle of a call, is taken for dead, and wakes up again (kill -STOP, then -CONT). */

let system: System;
let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ system, tenant, caller } = whole);
});

let second: Process;
beforeAll(async () => {
  const port = await freePort();
  second = new Process('workers/main.ts', { ...system.env, ONCEPOST_WORKER_PORT: String(port) }, async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.status === 200);
});
afterAll(() => second?.kill());

test('a worker that sleeps through its deadline: another finds the outcome unknown, and the late answer counts', async () => {
  const account = tenant.accounts.twitter!;
  const { post, operationId, held } = await caught({ system, caller }, account.id, 'with the answer', { content: 'a late answer [[sandbox:hide-listing]]' });
  // The answer is read, nothing is stored yet, and the process stands still.
  system.worker.signal('SIGSTOP');
  await second.start();
  await until('somebody else finds the outcome unknown', async () => {
    const { body } = await caller.get(`/v1/operations/${operationId}`);
    return body.status === 'unknown' ? body : null;
  });
  expect(Caller.state((await caller.get(`/v1/posts/${post.id}`)).body, account.id)).toBe('failed PROVIDER_OUTCOME_UNKNOWN');
  expect(await caller.ledger({ post_id: post.id })).toHaveLength(1);
  system.worker.signal('SIGCONT');
  held.release();
  const settled = await until('the late answer settles it', async () => {
    const { body } = await caller.get(`/v1/operations/${operationId}`);
    return body.status === 'succeeded' ? body : null;
  });
  expect(settled.settled_by).toBe('late_answer');
  expect(Caller.state((await caller.get(`/v1/posts/${post.id}`)).body, account.id)).toBe('published');
  await expectInvariants(caller, [post.id]);
}, 120_000);

test('a worker that sleeps between its claim and its first byte sends nothing when it wakes too late', async () => {
  // An account whose listing nothing hides.
  tenant = await system.tenant();
  caller = new Caller(system.baseUrl, tenant.testKey);
  await second.kill();
  const { post, operationId, held } = await caught({ system, caller }, tenant.accounts.twitter!.id, 'after the claim', { content: 'too late to send' });
  system.worker.signal('SIGSTOP');
  await second.start();
  await until('somebody else finds the outcome unknown', async () => ((await caller.get(`/v1/operations/${operationId}`)).body.status === 'unknown' ? true : null));
  held.release();
  system.worker.signal('SIGCONT');
  const settled = await until('the platform proves that nothing was sent', async () => {
    await putAbsenceBack(system, operationId);
    const { body } = await caller.get(`/v1/operations/${operationId}`);
    return body.status === 'failed' ? body : null;
  }, 150_000);
  expect([settled.settled_by, settled.error.code]).toEqual(['probe', 'PROVIDER_PROVED_ABSENT']);
  expect(await caller.ledger({ post_id: post.id, include: 'requests' })).toEqual([]);
  await expectInvariants(caller, [post.id]);
}, 200_000);
