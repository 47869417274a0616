import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { workflowIds } from '../../infra/contract/workflows.ts';
import { Caller } from '../support/caller.ts';
import { System, type Tenant } from '../support/system.ts';
import { until } from '../support/until.ts';

/*
 * Wall times given shortly before the clocks of their zone are changed. All processes and servers are real; the calendar
 * of API and worker is put to six seconds before the change. An error of a zone is at least half an hour, so minutes decide.
 */

let folder: string;
let system: System;
let tenant: Tenant;
let caller: Caller;
let aheadMs = 0;

const clockFile = () => join(folder, 'clock');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oncepost-clock-'));
  await writeFile(clockFile(), '0');
  system = await System.start({ NODE_OPTIONS: `--import=${new URL('./shifted-date.mjs', import.meta.url).href}`, CLOCK_FILE: clockFile() });
  tenant = await system.tenant();
  caller = new Caller(system.baseUrl, tenant.testKey);
}, 120_000);

afterAll(async () => {
  await system?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function putClock(to: number): Promise<void> {
  aheadMs = to - Date.now();
  await writeFile(`${clockFile()}.new`, String(aheadMs));
  await rename(`${clockFile()}.new`, clockFile());
  await until('the API follows the clock', async () => Date.parse((await caller.publish({ targets: ['twitter'], content: 'which time is it?', scheduled_at: 'draft' })).created_at) >= to);
}

const MINUTES_5 = 300_000;
const isAbout = (atMs: number, instant: string) => Math.abs(atMs - Date.parse(instant)) < MINUTES_5;

/** When Temporal will begin it, or began it, in the calendar of API and worker. */
async function beginsAt(postId: string): Promise<number> {
  const handle = system.client.workflow.getHandle(workflowIds.publishPost(postId, 1));
  const { executionTime } = await until('Temporal knows of the post', () => handle.describe().catch(() => null));
  return executionTime!.getTime() + aheadMs;
}

// In the order of time, because the clock only goes forward. `change` is the instant of it.
test.each([
  { zone: 'America/New_York', change: '2031-03-09T07:00:00Z', wall: '2031-03-09T03:00:01', instant: '2031-03-09T07:00:01.000Z', isSoon: true },
  { zone: 'Europe/Berlin', change: '2031-03-30T01:00:00Z', wall: '2031-03-30T03:00:01', instant: '2031-03-30T01:00:01.000Z', isSoon: true },
  { zone: 'Australia/Lord_Howe', change: '2031-04-05T15:00:00Z', wall: '2031-04-06T02:00:01', instant: '2031-04-05T15:30:01.000Z', isSoon: false },
  { zone: 'Australia/Lord_Howe', change: '2031-10-04T15:30:00Z', wall: '2031-10-05T02:30:01', instant: '2031-10-04T15:30:01.000Z', isSoon: true },
  { zone: 'Europe/Berlin', change: '2031-10-26T01:00:00Z', wall: '2031-10-26T03:00:01', instant: '2031-10-26T02:00:01.000Z', isSoon: false },
  { zone: 'America/New_York', change: '2031-11-02T06:00:00Z', wall: '2031-11-02T02:00:01', instant: '2031-11-02T07:00:01.000Z', isSoon: false },
])('$zone: $wall, given before the change at $change, goes out at $instant', async ({ zone, change, wall, instant, isSoon }) => {
  await putClock(Date.parse(change) - 6_000);
  const post = await caller.publish({ targets: [tenant.accounts.twitter!.id], content: `after the change ${change}`, scheduled_at: wall, timezone: zone });
  expect([post.status, post.scheduled_at]).toEqual(['scheduled', instant]);
  expect(isAbout(await beginsAt(post.id), instant)).toBe(true);
  // Where the clocks go back, the instant is too far off to be waited for: Temporal holds it.
  if (!isSoon) return;
  expect((await caller.ended(post.id)).status).toBe('published');
  const ledger = await caller.ledger({ post_id: post.id });
  const times = ledger.map((entry) => Date.parse(entry.at) + aheadMs);
  expect(times.map((at) => [at >= Date.parse(instant), isAbout(at, instant)])).toEqual([[true, true]]);
}, 60_000);
