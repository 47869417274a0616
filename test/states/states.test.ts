import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Moments } from '../support/moments.ts';
import { System } from '../support/system.ts';
import { AFTER_SENDING, LATE_ANSWERS } from './after-sending.ts';
import { BEFORE_SENDING, TOO_LATE, type Story } from './before-sending.ts';
import { drivePost, driveService } from './posts.ts';
import { Stage, type Told } from './stage.ts';
import { POSTS, SERVICE, TARGETS, type Row } from './table.ts';

/*
 * Every row of table.ts, driven over HTTP through the real stack. Each story has an organization of its own, and most of
 * its time is waiting, so a few are told at once; the tests only compare what was seen with the table.
 */

type Named = [string, (stage: Stage) => Promise<unknown>];

const AT_ONCE = 8;
const keyOf = ({ from, trigger, condition }: Row) => `${from} | ${trigger} | ${condition}`;
const targets = TARGETS.map((row) => ({ name: keyOf(row), row }));
const posts = POSTS.map((row) => ({ name: `${row.targets.join(', ')} → ${row.post}${row.later === undefined ? '' : `, ${row.later.by} → ${row.later.post}`}`, row }));
const service = SERVICE.map((row) => ({ name: `${row.from} | ${row.trigger} | ${row.condition}`, row }));

let system: System;
let stage: Stage;
const runs = new Map<string, Promise<unknown>>();

beforeAll(async () => {
  system = await System.start();
  const moments = new Moments(system);
  const open = () => Stage.open(system, moments);
  stage = await open();
  await stage.reached((await stage.create('now')).id, 'published');
  const interrupted = await whileTheWorkerStands({ ...TOO_LATE, ...LATE_ANSWERS }, open);
  tell([
    ...interrupted, ...Object.entries(AFTER_SENDING), ...Object.entries(BEFORE_SENDING),
    ...posts.map(({ name, row }): Named => [name, (stage) => drivePost(stage, row)]),
    ...service.map(({ name, row }): Named => [name, (stage) => driveService(stage, row)]),
  ], open);
}, 180_000);

afterAll(async () => {
  await system?.stop();
});

/** The first half of these stories happens before the worker may move. */
async function whileTheWorkerStands(stories: Record<string, (stage: Stage) => Promise<Story>>, open: () => Promise<Stage>): Promise<[string, Story][]> {
  system.worker.signal('SIGSTOP');
  const halves = await Promise.all(Object.entries(stories).map(async ([name, story]) => [name, await story(await open())] as [string, Story]));
  system.worker.signal('SIGCONT');
  return halves;
}

/** A few at a time. What one of them fails with is the answer of its test. */
function tell(stories: Named[], open: () => Promise<Stage>): void {
  const starts = stories.map(([name, story]) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = promise.then(async () => story(await open()));
    run.catch(() => {});
    runs.set(name, run);
    return { begin: resolve, run };
  });
  const teller = async () => {
    for (let next = starts.shift(); next !== undefined; next = starts.shift()) {
      next.begin();
      await next.run.catch(() => {});
    }
  };
  void Promise.all(Array.from({ length: AT_ONCE }, teller));
}

const TOLD_WITHIN_MS = 300_000;

describe('a target', () => {
  test.each(targets)('$name', async ({ name, row }) => {
    const { from, to, events } = row;
    expect((await runs.get(name)) as Told).toEqual({ from, to, events });
  }, TOLD_WITHIN_MS);
});

describe('a post', () => {
  test.each(posts)('$name', async ({ name, row }) => {
    expect(await runs.get(name)).toEqual(row);
  }, TOLD_WITHIN_MS);
});

describe('the interface', () => {
  test.each(service)('$name', async ({ name, row }) => {
    expect(await runs.get(name)).toEqual(row);
  }, TOLD_WITHIN_MS);
});

test('what the service cannot do yet has no route, so the table has no row for it', async () => {
  const post = await stage.reached((await stage.create('now')).id, 'published');
  const routes = [`/v1/posts/${post.id}/unpublish`, `/v1/posts/${post.id}/edits`, `/v1/posts/${post.id}/targets/${stage.twitter}/edits`, '/v1/ideas/idea_1/convert'];
  const answers = await Promise.all(routes.map(async (route) => (await stage.caller.post(route, {})).status));
  expect(answers).toEqual(routes.map(() => 404));
});
