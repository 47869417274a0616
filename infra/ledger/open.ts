import { newId } from '../contract/ids.ts';
import type { OperationRef } from '../contract/workflows.ts';
import { workflowIds } from '../contract/workflows.ts';
import type { Tx } from '../db/database.ts';
import type { Actor } from '../db/entities/columns.ts';
import { OperationEntity, type Operation } from '../db/entities/operation.entity.ts';
import type { Post } from '../db/entities/post.entity.ts';
import type { Target } from '../db/entities/target.entity.ts';
import { add } from '../db/rows.ts';
import { noteOperation } from '../db/repositories/timeline.ts';

/**
 * Opens the publish operation of a target: `pending`, next generation, target `publishing`. Nothing is sent by this;
 * (target, kind, attempt) is unique, so two callers can never open the same attempt. The caller tells of it, after its cause.
 */
export function openPublish(tx: Tx, work: { post: Post; target: Target; actor: Actor; requestId: string | null; now: Date }): Operation {
  const { post, target, now } = work;
  target.attempt += 1;
  const id = newId('operation');
  const operation = add(tx, OperationEntity, {
    id, organizationId: post.organizationId, mode: post.mode, kind: 'publish', action: null, status: 'pending', revision: 1,
    platform: target.platform, accountId: target.accountId, workspaceId: post.workspaceId ?? null,
    subjectType: 'post_target', subjectId: target.id, postId: post.id, targetId: target.id,
    attempt: target.attempt, recipient: '', previousOperationId: target.operationId ?? null, objectKey: id,
    partial: false, warnings: [], failuresInARow: 0, refreshes: 0, probeCount: 0, probing: 'none', absentReads: 0,
    workflowId: workflowIds.publishPost(post.id, post.seq), requestId: work.requestId, createdBy: work.actor,
    eventSeq: 0, createdAt: now, beganAt: now, updatedAt: now,
  });
  target.operationId = id;
  target.status = 'publishing';
  target.error = null;
  target.waitingFor = null;
  target.waitingUntil = null;
  target.updatedAt = now;
  return operation;
}

export function tellOpened(tx: Tx, operations: readonly Operation[], now: Date): void {
  for (const operation of operations) {
    const { attempt, platform, requestId, createdBy } = operation;
    noteOperation(tx, operation, [{ type: 'accepted', message: `Attempt ${attempt} to publish on ${platform} was accepted.`, requestId: requestId ?? null, actor: createdBy }], now);
  }
}

export function refOf(operation: Operation): OperationRef {
  return { operationId: operation.id, platform: operation.platform, accountId: operation.accountId };
}
