import { ActivityCancellationType, log, proxyActivities, proxyLocalActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { CoreActivities, ProviderActivities } from '../activities/index.ts';
import { PRIORITY, QUEUES, type OperationRef, type PublishPostInput } from './names.ts';

const { begin } = proxyLocalActivities<CoreActivities>({ startToCloseTimeout: '10 seconds', retry: { maximumInterval: '10 seconds' } });

/** Carries one generation of a post: begins it when it is due, then carries every target's operation to its end. */
export async function publishPost(input: PublishPostInput): Promise<string> {
  const operations = input.operations ?? (await beginWhenDue(input));
  if (typeof operations === 'string') return operations;
  const ended = await Promise.all(operations.map((operation) => carry(operation, input)));
  const summary = operations.map((operation, i) => `${operation.platform}: ${ended[i]}`).join(', ');
  setCurrentDetails(`Ended. ${summary}. An unknown outcome is looked after by \`reconcile/<operation>\`.`);
  return summary;
}

async function beginWhenDue({ postId, seq }: PublishPostInput): Promise<OperationRef[] | string> {
  for (;;) {
    const begun = await begin({ postId, seq });
    switch (begun.kind) {
      case 'begun':
        return begun.operations;
      case 'superseded':
        return 'superseded: the post was changed, begun or removed meanwhile';
      case 'ended':
        return `too late by the catch-up rule: ${begun.outcome}`;
      case 'early':
        await sleep(Math.max(begun.untilMs - Date.now(), 1), { summary: 'until the post is due' });
        break;
      default:
        begun satisfies never;
    }
  }
}

async function carry(operation: OperationRef, { activityTimeoutMs }: PublishPostInput): Promise<string> {
  const { carryOut } = proxyActivities<ProviderActivities>({
    taskQueue: QUEUES.providers,
    startToCloseTimeout: activityTimeoutMs,
    retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
    // A cancelled run lets a call in flight end: the row decides what may still be sent.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary: `${operation.platform} ${operation.accountId}`,
    priority: workflowInfo().priority ?? { priorityKey: PRIORITY.now },
  });
  for (;;) {
    const result = await carryOut({ operationId: operation.operationId });
    if (result.kind === 'settled') return result.status;
    setCurrentDetails(`${operation.operationId} on ${operation.platform} waits for ${result.reason} until ${new Date(result.untilMs).toISOString()}. Nothing has to be done; reset and terminate are safe, the ledger row decides what is sent.`);
    log.debug('waits', { operation_id: operation.operationId });
    await sleep(Math.max(result.untilMs - Date.now(), 1), { summary: `${operation.platform}: ${result.reason}`.slice(0, 200) });
  }
}
