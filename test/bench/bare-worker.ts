import { fileURLToPath } from 'node:url';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { readConfig } from '../../infra/config/config.ts';
import { BARE_QUEUES } from './bare-queues.ts';

export interface BareActivities {
  answer(): Promise<string>;
}

/** Process entry: the other side of the comparison. Same worker settings as the product's, no database, no call out. */
const { worker: sizes, temporal } = readConfig(process.env);
Runtime.install({ shutdownSignals: [], logger: undefined });
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
const activities: BareActivities = { answer: async () => 'published' };
const workers = await Promise.all([
  Worker.create({
    connection, taskQueue: BARE_QUEUES.workflows, workflowsPath: fileURLToPath(new URL('bare-workflow.ts', import.meta.url)),
    maxConcurrentWorkflowTaskExecutions: sizes.maxWorkflowTasks, maxCachedWorkflows: sizes.maxCachedWorkflows, stickyQueueScheduleToStartTimeout: temporal.stickyTimeoutMs,
  }),
  Worker.create({ connection, taskQueue: BARE_QUEUES.activities, activities, maxConcurrentActivityTaskExecutions: sizes.maxProviderCalls }),
]);
process.once('SIGTERM', () => workers.forEach((worker) => worker.shutdown()));
await Promise.all(workers.map((worker) => worker.run()));
await connection.close();
process.exit(0);
