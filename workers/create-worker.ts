import { fileURLToPath } from 'node:url';
import { Worker, type NativeConnection } from '@temporalio/worker';
import { createCoreActivities, createProviderActivities } from '../activities/index.ts';
import type { ActivityDeps } from '../activities/deps.ts';
import { QUEUES } from '../infra/contract/queues.ts';

const WORKFLOWS = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

/** Workflows and their database activities. */
export async function createCoreWorker(deps: ActivityDeps, temporal: { connection: NativeConnection; namespace: string }): Promise<Worker> {
  const { worker, temporal: settings, timing } = deps.infra.config;
  return Worker.create({
    ...temporal,
    taskQueue: QUEUES.core,
    workflowsPath: WORKFLOWS,
    activities: createCoreActivities(deps),
    maxConcurrentWorkflowTaskExecutions: worker.maxWorkflowTasks,
    maxCachedWorkflows: worker.maxCachedWorkflows,
    stickyQueueScheduleToStartTimeout: settings.stickyTimeoutMs,
    shutdownGraceTime: timing.shutdownGraceMs,
  });
}

/** Everything that calls out. Its grace is longer than any call, so that a deploy leaves no outcome unknown. */
export async function createProviderWorker(deps: ActivityDeps, temporal: { connection: NativeConnection; namespace: string }): Promise<Worker> {
  const { worker, timing } = deps.infra.config;
  return Worker.create({
    ...temporal,
    taskQueue: QUEUES.providers,
    activities: createProviderActivities(deps),
    maxConcurrentActivityTaskExecutions: worker.maxProviderCalls,
    shutdownGraceTime: timing.shutdownGraceMs,
  });
}
