import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

/*
 * Runs that are open while the code changes must go on: every recorded history is replayed on today's workflows.
 * A change that breaks one needs `patched()`; `record.ts` beside this file makes the recordings.
 */

const FOLDER = fileURLToPath(new URL('./histories/', import.meta.url));
const names = readdirSync(FOLDER, { recursive: true }).map(String).filter((name) => name.endsWith('.json'));

let workflowBundle: WorkflowBundleWithSourceMap;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  workflowBundle = await bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)) });
}, 60_000);

test.each(names)('%s', async (name) => {
  const history = historyFromJSON(JSON.parse(readFileSync(FOLDER + name, 'utf8')));
  await Worker.runReplayHistory({ workflowBundle }, history, name);
});

test('every workflow has at least three stories', () => {
  const stories = Object.groupBy(names, (name) => name.split('/')[0]!);
  for (const workflow of ['publish-post', 'reconcile-operation']) expect([workflow, stories[workflow]!.length >= 3]).toEqual([workflow, true]);
});
