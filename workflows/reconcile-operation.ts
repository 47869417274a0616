import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { ProviderActivities } from '../activities/index.ts';
import { QUEUES, WAKE_SIGNAL, type ProbeResult, type ReconcileOperationInput } from './names.ts';

const wake = defineSignal(WAKE_SIGNAL);
const OUTCOME_UNKNOWN = defineSearchAttributeKey('OutcomeUnknown', SearchAttributeType.BOOL);

/**
 * Finds out what happened to an operation whose answer was lost: reads the platform by the schedule on the row, and ends
 * when the row is settled by a proof, a late answer or a person's verdict. It decides nothing itself.
 */
export async function reconcileOperation({ operationId, platform, activityTimeoutMs }: ReconcileOperationInput): Promise<string> {
  let woken = false;
  let isUnknown = true;
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
    if (isUnknown && (result.kind === 'settled' || (result.kind === 'wait' && !result.isUnknown))) {
      isUnknown = false;
      upsertSearchAttributes([{ key: OUTCOME_UNKNOWN, value: false }]);
    }
    if (result.kind === 'settled') {
      setCurrentDetails(`${operationId} is ${result.status}. Nothing has to be done.`);
      return result.status;
    }
    setCurrentDetails(details({ operationId, platform }, result));
    if (result.kind === 'idle') await condition(() => woken);
    else await condition(() => woken, Math.max(result.untilMs - Date.now(), 1), { summary: `until the next read of ${platform}` });
  }
}

function details({ operationId, platform }: { operationId: string; platform: string }, result: Exclude<ProbeResult, { kind: 'settled' }>): string {
  const next = result.kind === 'idle' ? 'The schedule of reads has ended.' : `The next read is at ${new Date(result.untilMs).toISOString()}.`;
  if (result.kind === 'wait' && !result.isUnknown) return `A person decided that ${operationId} did not happen on ${platform}. It is read once more all the same. ${next} Nothing has to be done.`;
  return `Nobody knows whether ${operationId} happened on ${platform}; it is not sent again. ${next} A person can decide: POST /v1/operations/${operationId}/verdict.`;
}
