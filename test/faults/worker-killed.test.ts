import { beforeAll, expect, test } from '@jest/globals';
import { putAbsenceBack } from '../support/absence.ts';
import { Caller } from '../support/caller.ts';
import { expectInvariants } from '../support/invariants.ts';
import { caught, Moments, type Window } from '../support/moments.ts';
import type { System, Tenant } from '../support/system.ts';
import { until } from '../support/until.ts';
import { useWholeSystem } from '../support/whole-system.ts';

/*
 * A worker that dies between any two lines of carrying a post. `unknownOnTheWay`: nobody can tell from here whether a
 * byte left, so the outcome is unknown until the platform was read.
 */
interface Cell {
  window: Window;
  platform: 'twitter' | 'mastodon';
  ends: string;
  entries: number;
  unknownOnTheWay: boolean;
}

const CELLS: Cell[] = [
  { window: 'before the claim', platform: 'twitter', ends: 'published', entries: 1, unknownOnTheWay: false },
  { window: 'after the claim', platform: 'twitter', ends: 'failed PROVIDER_PROVED_ABSENT', entries: 0, unknownOnTheWay: true },
  { window: 'after the send', platform: 'twitter', ends: 'published', entries: 1, unknownOnTheWay: true },
  { window: 'before the settling', platform: 'twitter', ends: 'published', entries: 1, unknownOnTheWay: true },
  { window: 'after the settling', platform: 'twitter', ends: 'published', entries: 1, unknownOnTheWay: false },
  // A server that honours keys settles it inside the attempt: read first, then the same key again.
  { window: 'before the claim', platform: 'mastodon', ends: 'published', entries: 1, unknownOnTheWay: false },
  { window: 'after the claim', platform: 'mastodon', ends: 'published', entries: 1, unknownOnTheWay: false },
  { window: 'after the send', platform: 'mastodon', ends: 'published', entries: 1, unknownOnTheWay: false },
  { window: 'before the settling', platform: 'mastodon', ends: 'published', entries: 1, unknownOnTheWay: false },
  { window: 'after the settling', platform: 'mastodon', ends: 'published', entries: 1, unknownOnTheWay: false },
];

let system: System;
let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ system, tenant, caller } = whole);
});
beforeAll(async () => {
  // The facts of the mastodon server are read once, so that a post is one public call.
  await caller.ended((await caller.publish({ targets: ['mastodon'], content: 'first' })).id);
});

test('kill -9 of the worker in every window: at most one entry, and the truth', async () => {
  await system.worker.kill();
  const moments = new Moments(system);
  const cells = await Promise.all(CELLS.map(async (cell) => {
    const account = tenant.accounts[cell.platform]!;
    const post = await caller.publish({ targets: [account.id], content: `${cell.platform} ${cell.window}` });
    const operationId: string = post.targets[account.id].accounts[0].operation_id;
    return { cell, post, account, operationId, reached: moments.hold(operationId, cell.window) };
  }));
  await system.worker.start();
  await Promise.all(cells.map(({ reached }) => reached));
  await system.worker.kill();
  await system.worker.start();
  const seen = await Promise.all(cells.map(async ({ cell, post, account, operationId }) => {
    const ended = await until(`${cell.platform}, ${cell.window}: ${cell.ends}`, async () => {
      if (cell.ends === 'failed PROVIDER_PROVED_ABSENT') await putAbsenceBack(system, operationId);
      const { body } = await caller.get(`/v1/posts/${post.id}`);
      return Caller.state(body, account.id) === cell.ends ? body : null;
    }, 150_000).catch(async () => (await caller.get(`/v1/posts/${post.id}`)).body);
    const operation = (await caller.get(`/v1/operations/${operationId}`)).body;
    const entries = await caller.ledger({ post_id: post.id });
    return { window: cell.window, platform: cell.platform, ends: Caller.state(ended, account.id), entries: entries.length, unknownOnTheWay: operation.unknown_since !== null };
  }));
  expect(seen).toEqual(CELLS);
  await expectInvariants(caller, cells.map(({ post }) => post.id));
}, 240_000);

test('SIGTERM in the middle of a call: the call ends, the answer is stored, nothing is unknown', async () => {
  const account = tenant.accounts.twitter!;
  const { post, operationId, held } = await caught({ system, caller }, account.id, 'after the send', { content: 'in the middle of a deploy' });
  const stopped = system.worker.stop();
  held.release();
  expect(await stopped).toBe(0);
  const { body } = await caller.get(`/v1/posts/${post.id}`);
  expect(Caller.state(body, account.id)).toBe('published');
  expect((await caller.get(`/v1/operations/${operationId}`)).body.unknown_since).toBeNull();
  await system.worker.start();
  await expectInvariants(caller, [post.id]);
}, 60_000);
