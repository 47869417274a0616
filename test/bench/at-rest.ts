import { setTimeout as pause } from 'node:timers/promises';
import { workflowIds } from '../../infra/contract/workflows.ts';
import { OutboxEntity } from '../../infra/db/entities/outbox.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { until } from '../support/until.ts';
import type { Setting } from './setting.ts';
import { atOnce, median } from './stats.ts';

/** In MiB. RSS holds garbage too, and after the first snapshot what that one took; the live heap is what is really kept. */
export interface Memory {
  rss: Record<'api' | 'worker', number>;
  liveHeap: Record<'api' | 'worker', number>;
}

export interface AtRest {
  posts: number;
  seconds: number;
  runningWorkflows: number;
  eventsPerWorkflow: number;
  memory: { before: Memory; after: Memory };
}

const HOUR_MS = 3_600_000;
const SAMPLE = 50;
/** Long enough that what the processes no longer need is given back, if it ever is. */
const CALM_MS = 5_000;

/** Posts that are due in an hour: what they cost while they wait. */
export async function postsAtRest(setting: Setting, posts: number): Promise<AtRest> {
  const before = await memory(setting);
  const startedAt = performance.now();
  const scheduledAt = new Date(Date.now() + HOUR_MS).toISOString();
  const account = setting.tenant.accounts.twitter!.id;
  const ids = await atOnce(Array.from({ length: posts }, (_, n) => n), 30, async (n) => (await setting.caller.publish({ targets: [account], content: `later ${n}`, scheduled_at: scheduledAt })).id as string);
  await until('Temporal knows of every scheduled post', async () => (await inScope(setting.system.db, SYSTEM, (tx) => tx.count(OutboxEntity))) === 0, 120_000);
  const seconds = (performance.now() - startedAt) / 1000;
  await pause(CALM_MS);
  const after = await memory(setting);
  const { client } = setting.system;
  const step = Math.max(1, Math.floor(posts / SAMPLE));
  const lengths = await atOnce(ids.filter((_, n) => n % step === 0), 10, async (id) => (await client.workflow.getHandle(workflowIds.publishPost(id, 1)).describe()).historyLength);
  const running = await until('the visibility of Temporal has caught up', async () => {
    const { count } = await client.workflow.count(`WorkflowType = 'publishPost' AND ExecutionStatus = 'Running'`);
    return count >= posts ? count : null;
  });
  return {
    posts, seconds, runningWorkflows: running, eventsPerWorkflow: Math.max(median(lengths), ...lengths),
    memory: { before, after },
  };
}

async function memory({ processes, liveHeap, system }: Setting): Promise<Memory> {
  const rss = { api: Math.round(processes.rssMiB('api')), worker: Math.round(processes.rssMiB('worker')) };
  return { rss, liveHeap: { api: Math.round(await liveHeap.mib(system.api)), worker: Math.round(await liveHeap.mib(system.worker)) } };
}
