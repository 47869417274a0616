import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { COMMANDS } from './commands.ts';
import * as requests from './requests.ts';
import { Run } from './run.ts';
import { System } from './system.ts';
import { time } from './time.ts';

/*
 * Whatever happens to posts, in whatever order, the service does what the tables of the contract say: a model that knows
 * nothing but them runs beside it. Requests, clock, carriers and faults interleave as fast-check finds; Temporal is the
 * only part that is not there, because the test is the one who says which carrier goes on.
 *
 * The same stories are played each time, so that a run of all tests says something about the change; MODEL_SEED=random
 * plays others. A failure names its seed and the shortest story that leads to it: MODEL_SEED, MODEL_PATH and MODEL_REPLAY
 * play it again. MODEL_RUNS plays more or fewer stories.
 */
const STEPS = 50;
const { MODEL_RUNS = '200', MODEL_SHRINK_SECONDS = '120', MODEL_SEED = '1', MODEL_PATH, MODEL_REPLAY } = process.env;
const SHRINK_MS = Number(MODEL_SHRINK_SECONDS) * 1_000;

let system: System;

beforeAll(async () => {
  system = await System.start();
  time.stop();
}, 120_000);

afterAll(async () => {
  time.goOn();
  await system?.stop();
});

let failedAt = Infinity;

/** Once a story has failed, shorter ones are looked for only for a while. */
const story = fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 2 * STEPS, size: 'max', ...(MODEL_REPLAY === undefined ? {} : { replayPath: MODEL_REPLAY }) }), async (commands) => {
  if (performance.now() - failedAt > SHRINK_MS) return;
  time.rewind();
  const run = new Run(system, await system.organization());
  try {
    await fc.asyncModelRun(() => ({ model: {}, real: run }), commands);
    await run.finish();
    await run.judge();
  } catch (error) {
    failedAt = Math.min(failedAt, performance.now());
    throw error;
  } finally {
    await run.end();
  }
});

test(`${MODEL_RUNS} stories of ${STEPS} steps without divergence`, async () => {
  await fc.assert(story, { numRuns: Number(MODEL_RUNS), ...(MODEL_SEED === 'random' ? {} : { seed: Number(MODEL_SEED) }), ...(MODEL_PATH === undefined ? {} : { path: MODEL_PATH }) });
}, 3_600_000);

/** A person was right that the first request did nothing, and what the second one made looks the same on the platform. */
test.each([['has said so', true], ['is still on its way', false]])('what a later attempt made is never taken for the work of an earlier one: its answer %s', async (_when, isAnswered) => {
  time.rewind();
  const run = new Run(system, await system.organization());
  try {
    await requests.create(run, { when: 'now', targets: [{ account: 0, word: 'limit', hides: false }], onLate: 'publish', maxLatenessSeconds: 86_400, twice: false });
    const [first] = run.world.operations;
    await run.carry(first!);
    for (let stops = 0; stops < 2; stops++) await run.step(0);
    await run.die(0);
    time.pass(95_000);
    await run.carry(first!);
    await requests.verdict(run, first!, { happened: false, isStale: false, again: false });
    await requests.retry(run, run.world.posts[0]!, null);
    await run.carry(run.world.operations[1]!);
    for (let stops = 0; stops < (isAnswered ? 3 : 2); stops++) await run.step(0);
    time.pass(3_600_000);
    await run.probe(first!);
    expect([first!.status, first!.settledBy]).toEqual(['failed', 'verdict']);
    await run.finish();
    await run.judge();
  } finally {
    await run.end();
  }
});
