import type { Tx } from '../db/database.ts';
import type { Operation } from '../db/entities/operation.entity.ts';
import type { PostState } from '../db/repositories/events.ts';
import { noteOperation, notePost } from '../db/repositories/timeline.ts';
import type { WaitingFor } from '../contract/statuses.ts';

/** A wait of an operation, and on the post's own timeline what is a matter of pace: the account's budget or the platform's limit. */
export function notePaced(tx: Tx, { operation, state }: { operation: Operation; state: PostState | null }, wait: { for: WaitingFor | null; until: Date; reason: string }, now: Date): void {
  const entry = { type: 'paced', message: `Waits for ${wait.reason}.`, data: { until: wait.until.toISOString() } };
  noteOperation(tx, operation, [entry], now);
  const isPace = wait.for === 'rate_budget' || wait.for === 'provider_wait';
  if (state !== null && isPace) notePost(tx, state.post, [{ ...entry, targetId: operation.targetId ?? null }], now);
}
