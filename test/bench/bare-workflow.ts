import { proxyActivities } from '@temporalio/workflow';
import { BARE_QUEUES } from './bare-queues.ts';
import type { BareActivities } from './bare-worker.ts';

const { answer } = proxyActivities<BareActivities>({ taskQueue: BARE_QUEUES.activities, startToCloseTimeout: '1 minute' });

/** The least that one remote activity on a queue of its own costs here. */
export async function bare(): Promise<string> {
  return answer();
}
