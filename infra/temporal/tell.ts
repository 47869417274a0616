import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { QUEUES } from '../contract/queues.ts';
import { WAKE_SIGNAL } from '../contract/workflows.ts';
import type { OutboxRow } from '../db/entities/outbox.entity.ts';
import { searchAttributePairs } from './search-attributes.ts';

const TELL_TIMEOUT_MS = 5_000;

/** `lost`: a run that was terminated or failed is started again; only the sweeper says so. */
export type StartPolicy = 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY';

/**
 * Tells Temporal what an outbox row says. Ids are deterministic, so telling twice is harmless: "already started" is
 * success, and so is a workflow that is gone where it was to be cancelled or woken. Throws when Temporal is away.
 */
export async function tellTemporal(client: Client, row: OutboxRow, options: { now: Date; policy?: StartPolicy }): Promise<void> {
  await client.withDeadline(Date.now() + TELL_TIMEOUT_MS, async () => {
    if (row.intent === 'start') return startWorkflow(client, row, options);
    const handle = client.workflow.getHandle(row.workflowId);
    try {
      await (row.intent === 'cancel' ? handle.cancel() : handle.signal(WAKE_SIGNAL));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  });
}

async function startWorkflow(client: Client, row: OutboxRow, { now, policy = 'REJECT_DUPLICATE' }: { now: Date; policy?: StartPolicy }): Promise<void> {
  const delay = row.startAt ? row.startAt.getTime() - now.getTime() : 0;
  try {
    await client.workflow.start(row.workflow, {
      taskQueue: QUEUES.core,
      workflowId: row.workflowId,
      args: [row.args],
      workflowIdReusePolicy: policy,
      workflowIdConflictPolicy: 'FAIL',
      staticSummary: row.summary,
      typedSearchAttributes: searchAttributePairs(row.searchAttributes),
      priority: { priorityKey: row.priority, fairnessKey: row.organizationId },
      ...(delay > 0 ? { startDelay: delay } : {}),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
