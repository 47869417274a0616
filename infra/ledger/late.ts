import type { Tx } from '../db/database.ts';
import type { PostState } from '../db/repositories/events.ts';
import { notePost } from '../db/repositories/timeline.ts';
import { holdPost, tellLate } from './begin.ts';
import { cancelPending, tellCancelled } from './cancel.ts';
import { lockOperation } from './post-state.ts';
import { settle } from './settle.ts';

/**
 * A wait went past the catch-up rule before anything of this target was sent. `hold` puts the whole post back to draft
 * while nothing of it was sent; otherwise this target alone ends `SCHEDULE_MISSED`.
 */
export async function endLateOperation(tx: Tx, work: { operationId: string; now: Date; activityTimeoutMs: number }): Promise<void> {
  const { operationId, now } = work;
  const { operation, state } = await lockOperation(tx, operationId);
  const untouched = state !== null && state.targets.every((target) => target.status === 'publishing') && (await areAllPending(tx, state));
  if (state !== null && untouched && state.post.onLate === 'hold' && !state.post.deletedAt) {
    const cancelled = await cancelPending(tx, state, now);
    if (cancelled.length === state.targets.length) {
      // The targets were just failed in memory only as cancelled; the hold makes them drafts in the same flush.
      for (const target of state.targets) Object.assign(target, { status: 'publishing', error: null });
      tellLate(tx, state.post, now);
      holdPost(tx, state, now);
    }
    tellCancelled(tx, cancelled, now);
    return;
  }
  if (state !== null && operation.status === 'pending') {
    tellLate(tx, state.post, now);
    notePost(tx, state.post, [{ type: 'skipped', message: 'Too late by the catch-up rule; nothing was sent.', targetId: operation.targetId ?? null }], now);
  }
  await settle(tx, { operationId, by: { kind: 'service' }, ruling: { kind: 'failed', error: { code: 'SCHEDULE_MISSED' }, settledBy: 'service' }, now }, work);
}

/** Under the locks that claims take: a sibling that is claimed meanwhile must not be judged by what was read before. */
async function areAllPending(tx: Tx, { targets }: PostState): Promise<boolean> {
  const ids = targets.flatMap((target) => target.operationId ?? []);
  const rows = ids.length === 0 ? [] : await tx.execute<{ status: string }[]>('select status from operation where id in (?) order by id for update', [ids]);
  return rows.length === targets.length && rows.every((row) => row.status === 'pending');
}
