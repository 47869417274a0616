import { targetError } from '../../../infra/ledger/target-follows.ts';
import { openPublish, refOf } from '../../../infra/ledger/open.ts';
import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import type { OutboxRow } from '../../../infra/db/entities/outbox.entity.ts';
import type { Post } from '../../../infra/db/entities/post.entity.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { startPublishPost } from '../../../infra/db/repositories/outbox.ts';
import { flush } from '../../../infra/db/rows.ts';
import { tellTemporal } from '../../../infra/temporal/tell.ts';
import type { Call } from '../../route.ts';

/** How a post of many that were accepted together begins: in its turn, behind what people wait for. */
export interface LaterStart {
  priority: number;
  /** Temporal hears of the post at this moment, from the relay. */
  startsAt: Date;
}

/**
 * Opens the operations of targets that are due, and the outbox row of the workflow that carries them. Temporal is told
 * right after the commit; where that fails the relay does it. Targets whose account cannot send fail here. The caller
 * tells of the operations.
 */
export async function publishNow(call: Call, state: PostState, targets: readonly Target[], start?: LaterStart): Promise<Operation[]> {
  const isBroken = (target: Target) => state.accounts.get(target.accountId)?.status === 'reconnect_required';
  for (const target of targets) if (isBroken(target)) await failAtOnce(call, target);
  return openAndStart(call, state, targets.filter((target) => target.status !== 'failed'), start);
}

/** An operation for each of these targets, whatever their accounts look like: what cannot be sent fails in planning. */
export async function openAndStart(call: Call, state: PostState, targets: readonly Target[], start?: LaterStart): Promise<Operation[]> {
  const { tx, now, infra, caller, requestId } = call;
  const { post } = state;
  const opened = targets.map((target) => openPublish(tx, { post, target, actor: caller.actor, requestId, now }));
  state.operations = new Map([...state.operations, ...opened.map((operation) => [operation.id, operation] as const)]);
  if (opened.length === 0) return opened;
  const row = await startPublishPost(tx, {
    post, platforms: opened.map((operation) => operation.platform), operations: opened.map(refOf), now,
    availableAt: start?.startsAt ?? new Date(now.getTime() + infra.config.timing.outboxHeadStartMs), activityTimeoutMs: infra.config.timing.activityTimeoutMs,
    ...(start === undefined ? {} : { priority: start.priority }),
  });
  if (start === undefined) tellAfterCommit(call, row);
  return opened;
}

/** The workflow waits in Temporal until the due time; the relay takes it there. */
export async function publishLater(call: Call, post: Post, targets: readonly Target[]): Promise<void> {
  const { now, infra, tx } = call;
  await startPublishPost(tx, { post, platforms: targets.map((target) => target.platform), availableAt: now, now, activityTimeoutMs: infra.config.timing.activityTimeoutMs });
}

function tellAfterCommit(call: Call, row: OutboxRow): void {
  const { infra } = call;
  call.afterCommit(() => tellTemporal(infra.temporal, row, { now: infra.clock.now() }));
}

/** Reached through a platform or a workspace, the account has to be connected again before anything is sent. */
async function failAtOnce(call: Call, target: Target): Promise<void> {
  // The table of transitions knows no way from draft to failed: the target was to be published, and then was not.
  if (target.status === 'draft') {
    target.status = 'publishing';
    await flush(call.tx);
  }
  Object.assign(target, { status: 'failed', error: targetError({ code: 'ACCOUNT_RECONNECT_REQUIRED' }, null), updatedAt: call.now });
}
