import { CATCH_UP_LATE_AFTER_MS } from '../contract/limits.ts';
import type { BeginResult } from '../contract/workflows.ts';
import { workflowIds } from '../contract/workflows.ts';
import type { Tx } from '../db/database.ts';
import type { Operation } from '../db/entities/operation.entity.ts';
import type { Post } from '../db/entities/post.entity.ts';
import { OperationEntity } from '../db/entities/operation.entity.ts';
import { writePostEvent, type PostState } from '../db/repositories/events.ts';
import { forgetStart } from '../db/repositories/outbox.ts';
import { notePost } from '../db/repositories/timeline.ts';
import { backToDraft } from './back-to-draft.ts';
import { openPublish, refOf, tellOpened } from './open.ts';
import { followTargets, lockPost, refreshPost, tellChanges } from './post-state.ts';
import { targetError } from './target-follows.ts';

const SYSTEM_ACTOR = { type: 'system', id: null } as const;

/**
 * Begins a due post: opens an operation per target under the post's lock. Idempotent by (post, seq): who comes again
 * finds the operations that were opened. A run that a later change superseded finds another seq and does nothing.
 */
export async function beginPost(tx: Tx, input: { postId: string; seq: number; now: Date }): Promise<BeginResult> {
  const { postId, seq, now } = input;
  const state = await lockPost(tx, postId);
  // After the lock: a change of the post takes it first too, and then this row.
  await forgetStart(tx, workflowIds.publishPost(postId, seq));
  if (state === null || state.post.deletedAt || state.post.seq !== seq) return { kind: 'superseded' };
  const { post } = state;
  if (post.status === 'publishing') return { kind: 'begun', operations: await openOperations(tx, state, seq) };
  if (post.status !== 'scheduled') return { kind: 'superseded' };
  if (post.scheduledAt && post.scheduledAt > now) return { kind: 'early', untilMs: post.scheduledAt.getTime() };
  tellLate(tx, post, now);
  if (isTooLate(post, now) && post.onLate !== 'publish') return endLate(tx, state, now);
  const operations: Operation[] = state.targets.map((target) => openPublish(tx, { post, target, actor: SYSTEM_ACTOR, requestId: null, now }));
  notePost(tx, post, [{ type: 'began', message: 'The due time came; publishing began.', data: { lateness_ms: now.getTime() - post.scheduledAt!.getTime() } }], now);
  tellOpened(tx, operations, now);
  refreshPost(tx, state, now);
  return { kind: 'begun', operations: operations.map(refOf) };
}

async function openOperations(tx: Tx, state: PostState, seq: number): Promise<{ operationId: string; platform: string; accountId: string }[]> {
  const open = await tx.find(OperationEntity, { postId: state.post.id, workflowId: workflowIds.publishPost(state.post.id, seq), status: { $in: ['pending', 'sending'] } });
  return open.map(refOf);
}

/** In whole seconds, as the rule is given. `since` is the due time, or the moment of a later explicit attempt. */
export function isTooLate(post: Post, now: Date, since: Date | null = post.scheduledAt ?? null): boolean {
  return since !== null && Math.floor((now.getTime() - since.getTime()) / 1000) > post.maxLatenessSeconds;
}

/** Part of the transaction that found out. A post that is late beyond its own limit says so however short that is. */
export function tellLate(tx: Tx, post: Post, now: Date): void {
  const latenessMs = now.getTime() - (post.scheduledAt?.getTime() ?? now.getTime());
  if (latenessMs <= CATCH_UP_LATE_AFTER_MS && !isTooLate(post, now)) return;
  notePost(tx, post, [{ type: 'late', message: 'The due time was missed.', data: { lateness_ms: latenessMs, max_lateness_seconds: post.maxLatenessSeconds, on_late: post.onLate } }], now);
}

/** Catch-up: `skip` fails what was not sent; `hold` puts the post back to draft. */
function endLate(tx: Tx, state: PostState, now: Date): BeginResult {
  const { post, targets } = state;
  if (post.onLate === 'skip') {
    for (const target of targets) Object.assign(target, { status: 'failed', error: targetError({ code: 'SCHEDULE_MISSED' }, null), updatedAt: now });
    notePost(tx, post, [{ type: 'skipped', message: 'Too late by the catch-up rule; nothing was sent.' }], now);
    refreshPost(tx, state, now);
    return { kind: 'ended', outcome: 'skipped' };
  }
  holdPost(tx, state, now);
  return { kind: 'ended', outcome: 'held' };
}

/** Puts a late post back to draft, for a person to decide. Only while nothing of it was sent. */
export function holdPost(tx: Tx, state: PostState, now: Date): void {
  const { post } = state;
  backToDraft(state, now);
  post.holdReason = 'late';
  const before = followTargets(state, now);
  const eventId = writePostEvent(tx, 'post.held', state, now, { hold_reason: 'late' });
  notePost(tx, post, [{ type: 'held', message: 'Too late by the catch-up rule; the post is a draft again.', eventId }], now);
  tellChanges(tx, state, { before, now });
}
