import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { ProviderActivities } from '../activities/index.ts';
import { QUEUES, WAKE_SIGNAL, type ReconcileOperationInput } from './names.ts';

const wake = defineSignal(WAKE_SIGNAL);

/**
 * Finds out what happened to an operation whose answer was lost: reads the platform by the schedule on the row, and ends
 * when the row is settled by a proof, a late answer or a person's verdict. It decides nothing itself.
 */
export async function reconcileOperation({ operationId, platform, activityTimeoutMs }: ReconcileOperationInput): Promise<string> {
  let woken = false;
  setHandler(wake, () => {
    woken = true;
  });
  const { probeOperation } = proxyActivities<ProviderActivities>({
    taskQueue: QUEUES.providers,
    startToCloseTimeout: activityTimeoutMs,
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
    summary: `read ${platform} for ${operationId}`,
  });
  for (;;) {
    woken = false;
    const result = await probeOperation({ operationId });
    if (result.kind === 'settled') return result.status;
    setCurrentDetails(details(operationId, platform, result.kind === 'wait' ? result.untilMs : null));
    if (result.kind === 'idle') await condition(() => woken);
    else await condition(() => woken, Math.max(result.untilMs - Date.now(), 1));
  }
}

function details(operationId: string, platform: string, untilMs: number | null): string {
  const next = untilMs === null ? 'The schedule of reads has ended.' : `The next read is at ${new Date(untilMs).toISOString()}.`;
  return `Nobody knows whether ${operationId} happened on ${platform}; it is not sent again. ${next} A person can decide: POST /v1/operations/${operationId}/verdict.`;
}
