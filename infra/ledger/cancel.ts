import type { Tx } from '../db/database.ts';
import { OperationEntity, type Operation } from '../db/entities/operation.entity.ts';
import type { PostState } from '../db/repositories/events.ts';
import { noteOperation } from '../db/repositories/timeline.ts';
import { errorOf } from './settle.ts';
import { targetError } from './target-follows.ts';

/**
 * Ends the operations of a post that nobody has claimed yet: `failed` `CANCELLED`, nothing was sent. Those that are
 * `sending` end by themselves. The post's lock is held, and a claim takes the operation's, so the database decides
 * who was first. Returns those that were cancelled; the caller tells of them and refreshes the post.
 */
export async function cancelPending(tx: Tx, state: PostState, now: Date): Promise<Operation[]> {
  const cancelled: Operation[] = [];
  for (const target of state.targets) {
    if (target.status !== 'publishing' || !target.operationId) continue;
    const rows = await tx.execute<{ id: string }[]>(
      `update operation set status = 'failed', settled_by = 'service', settled_at = ?, updated_at = ?, revision = revision + 1, error = ?::jsonb where id = ? and status = 'pending' returning id`,
      [now, now, JSON.stringify(errorOf({ code: 'CANCELLED' })), target.operationId],
    );
    if (rows.length === 0) continue;
    const operation = await tx.findOneOrFail(OperationEntity, { id: target.operationId }, { refresh: true });
    Object.assign(target, { status: 'failed', error: targetError({ code: 'CANCELLED' }, operation.id), waitingFor: null, waitingUntil: null, updatedAt: now });
    state.operations = new Map(state.operations).set(operation.id, operation);
    cancelled.push(operation);
  }
  return cancelled;
}

export function tellCancelled(tx: Tx, operations: readonly Operation[], now: Date): void {
  for (const operation of operations) noteOperation(tx, operation, [{ type: 'settled', message: 'Cancelled before anything was sent.', data: { status: 'failed', settled_by: 'service', code: 'CANCELLED' } }], now);
}
