import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { workflowIds } from '../../infra/contract/workflows.ts';
import { BARE_QUEUES } from './bare-queues.ts';
import type { Options } from './options.ts';
import { cpuMsPer } from './processes.ts';
import type { Setting } from './setting.ts';
import { atOnce } from './stats.ts';

export interface Round {
  perSecond: number;
  /** Milliseconds of processor time per workflow, by process. */
  cpuMs: Record<string, number>;
  workflowIds: string[];
}

const LOOK_AGAIN_MS = 100;

type Start = (n: number) => Promise<WorkflowHandle>;

/** So many workflows started, so many at a time; ends when the last has ended. Both sides are watched the same way. */
async function round({ processes }: Setting, { posts, concurrency }: Options, start: Start): Promise<Round> {
  const before = processes.cpu();
  const startedAt = performance.now();
  const results: Promise<unknown>[] = [];
  const handles = await atOnce(Array.from({ length: posts }, (_, n) => n), concurrency, async (n) => {
    const handle = await start(n);
    const result = resultOf(handle);
    results.push(result);
    // Looked at below; until then a failure must not end the process.
    result.catch(() => {});
    return handle;
  });
  const outcomes = await Promise.all(results);
  const seconds = (performance.now() - startedAt) / 1000;
  const failed = outcomes.find((outcome) => !String(outcome).endsWith('succeeded') && outcome !== 'published');
  if (failed !== undefined) throw new Error(`a workflow of the benchmark ended otherwise: ${String(failed)}`);
  return { perSecond: posts / seconds, cpuMs: cpuMsPer(posts, before, processes.cpu()), workflowIds: handles.map((handle) => handle.workflowId) };
}

/** The API answers before Temporal knows of the workflow; asking too early costs Temporal a read of nothing. */
export async function resultOf(handle: WorkflowHandle): Promise<unknown> {
  for (;;) {
    await pause(LOOK_AGAIN_MS);
    try {
      return await handle.result();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
}

/** Posts through the whole product: accepted over HTTP, carried, settled. */
export function productRound(setting: Setting, options: Options): Promise<Round> {
  return round(setting, options, async () => setting.system.client.workflow.getHandle(workflowIds.publishPost(await publishOne(setting), 1)));
}

export async function publishOne({ caller, tenant }: Setting): Promise<string> {
  const post = await caller.publish({ targets: [tenant.accounts.twitter!.id], content: `a post of the benchmark ${randomUUID()}` });
  return post.id;
}

export function bareRound(setting: Setting, options: Options): Promise<Round> {
  const { client } = setting.system;
  return round(setting, options, () => client.workflow.start('bare', { taskQueue: BARE_QUEUES.workflows, workflowId: `bare/${randomUUID()}` }));
}
