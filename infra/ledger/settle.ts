import { OUTCOME_CODES } from '../contract/errors.ts';
import { newId } from '../contract/ids.ts';
import { OUTCOME_MESSAGES } from '../contract/outcome-messages.ts';
import type { SettledBy, WaitingFor } from '../contract/statuses.ts';
import type { Tx } from '../db/database.ts';
import { EvidenceEntity } from '../db/entities/evidence.entity.ts';
import type { Operation, OperationError } from '../db/entities/operation.entity.ts';
import { StepEntity, type Step } from '../db/entities/step.entity.ts';
import { VerdictEntity } from '../db/entities/verdict.entity.ts';
import { columnsOf, rowOf } from '../db/joined.ts';
import { add, hold } from '../db/rows.ts';
import { writeOperationEvent } from '../db/repositories/events.ts';
import { startReconcile, wakeReconcile } from '../db/repositories/outbox.ts';
import { noteOperation, type Note } from '../db/repositories/timeline.ts';
import { finishStep } from './claim.ts';
import { notePaced } from './paced.ts';
import { lockOperation, refreshPost } from './post-state.ts';
import type { EvidenceDraft, Failure, Ruling, Settlement } from './settlement.ts';
import { followTarget } from './target-follows.ts';

const STEP = { alias: 's', entity: StepEntity };

const WAITED_FOR: Record<WaitingFor | 'again', string> = {
  rate_budget: 'the rate budget of the account', provider_wait: 'the time the platform asked for', thread_parent: 'the post before it in the thread',
  provider_processing: 'the platform to finish its work', again: 'the next try; nothing was done',
};

/** `applied: false`: somebody settled it before, or the word came from a claim that is no longer in force. */
export interface Settled {
  applied: boolean;
  operation: Operation;
}

/**
 * Writes what was found out: operation, step, evidence, timeline, target, post status, events and outbox rows in one
 * transaction under the post's lock. Safe to repeat: a ruling that the state does not admit changes nothing but keeps its evidence.
 */
export async function settle(tx: Tx, settlement: Settlement, options: { activityTimeoutMs: number }): Promise<Settled> {
  const { operationId, ruling, now } = settlement;
  const { operation, state } = await lockOperation(tx, operationId);
  const evidenceIds = writeEvidence(tx, operation, settlement.evidence ?? [], now);
  const notes: Note[] = (settlement.notes ?? []).map((note) => ({ ...note, evidenceId: note.evidenceId ?? evidenceIds[0] ?? null }));
  if (!admits(operation, settlement)) {
    await contradict(tx, operation, settlement, evidenceIds[0] ?? null, notes);
    noteOperation(tx, operation, notes, now);
    return { applied: false, operation };
  }
  await reportStep(tx, operation, settlement);
  const before = operation.status;
  applyRuling(operation, settlement);
  await supersedeVerdict(tx, operation, before, settlement, evidenceIds[0] ?? null);
  noteOperation(tx, operation, [...notes, ...tellOutcome(tx, operation, before, settlement)], now);
  if (state !== null) {
    const target = state.targets.find((one) => one.id === operation.targetId);
    if (target !== undefined && (await followTarget(tx, { target, operation, ruling, now }))) {
      state.operations = new Map(state.operations).set(operation.id, operation);
      const ended = refreshPost(tx, state, now);
      noteOperation(tx, operation, [
        ...(before === operation.status ? [] : [{ type: 'subject_updated', message: `The target is ${target.status}.`, data: { status: target.status } }]),
        ...(ended === null ? [] : [{ type: 'event_emitted', message: `${ended.event} was written.`, eventId: ended.eventId, data: { event: ended.event, event_id: ended.eventId } }]),
      ], now);
    }
  }
  if (ruling.kind === 'not_done' && ruling.wait !== null) notePaced(tx, { operation, state }, { ...ruling.wait, reason: WAITED_FOR[ruling.wait.for ?? 'again'] }, now);
  if (ruling.kind === 'unknown') await startReconcile(tx, operation, { ...options, now });
  else if (before === 'unknown') await wakeReconcile(tx, operation, now);
  return { applied: true, operation };
}

/** Which word counts in which state: decisions on operations, the table of states. */
function admits(operation: Operation, { by, ruling, now }: Settlement): boolean {
  const { status } = operation;
  const mine = by.kind === 'sender' && by.token === operation.claimToken;
  if (status === 'pending') return by.kind === 'service' || (by.kind === 'sender' && by.token === '');
  if (status === 'sending') {
    if (by.kind === 'sweeper' || by.kind === 'service') return ruling.kind === 'unknown' && operation.claimDeadline! <= now;
    return mine || (by.kind === 'probe' && operation.claimDeadline! <= now);
  }
  if (status === 'unknown') return (mine || by.kind === 'probe' || by.kind === 'verdict') && (ruling.kind === 'succeeded' || ruling.kind === 'failed');
  // A person's negative verdict gives way to proof of success; everything else that is settled stays.
  if (operation.settledBy === 'verdict' && ruling.kind === 'succeeded') return (mine || by.kind === 'probe') && (status === 'failed' || ruling.proof.platformPostId !== operation.result?.platform_post_id);
  return false;
}

function applyRuling(operation: Operation, settlement: Settlement): void {
  const { ruling, now } = settlement;
  const before = operation.status;
  operation.updatedAt = now;
  if (settlement.requestDigest) operation.requestDigest = settlement.requestDigest;
  if (settlement.step?.trip?.headersSentAt && !operation.sentAt) operation.sentAt = settlement.step.trip.headersSentAt;
  switch (ruling.kind) {
    case 'succeeded':
      Object.assign(operation, { status: 'succeeded', settledBy: settledBy(before, settlement), settledAt: now, error: null, probing: 'none', nextProbeAt: null, failuresInARow: 0 });
      operation.result = { platform_post_id: ruling.proof.platformPostId, url: ruling.proof.url, items: [{ step: operation.claimStep ?? 'publish', platform_post_id: ruling.proof.platformPostId, url: ruling.proof.url }] };
      break;
    case 'failed':
      if (ruling.error.code === 'STEPS_REMAINING') operation.partial = true;
      Object.assign(operation, { status: 'failed', settledBy: ruling.settledBy ?? settledBy(before, settlement), settledAt: now, error: errorOf(ruling.error), probing: 'none', nextProbeAt: null, failuresInARow: 0 });
      break;
    case 'unknown':
      Object.assign(operation, { status: 'unknown', unknownSince: now, error: errorOf(ruling.error), probing: ruling.probing, nextProbeAt: ruling.nextProbeAt });
      break;
    case 'not_done':
      Object.assign(operation, { status: 'pending', claimToken: null, claimStep: null, claimDeadline: null, failuresInARow: ruling.wait === null ? operation.failuresInARow : operation.failuresInARow + 1, heldBy: ruling.wait?.heldBy ?? null });
      break;
    case 'resend':
      operation.claimDeadline = ruling.at;
      break;
    case 'checkpoint':
      break;
    default:
      ruling satisfies never;
  }
  if (before !== operation.status) operation.revision += 1;
}

function settledBy(before: string, { by }: Settlement): SettledBy {
  if (by.kind === 'probe' || by.kind === 'verdict') return by.kind;
  if (by.kind === 'sender') return before === 'unknown' || before === 'failed' || before === 'succeeded' ? 'late_answer' : 'answer';
  return 'service';
}

export function errorOf(failure: Failure): OperationError {
  return {
    code: failure.code,
    message: OUTCOME_MESSAGES[failure.code],
    platform_code: failure.platformCode?.slice(0, 128) ?? null,
    platform_message: failure.platformMessage ?? null,
    http_status: failure.httpStatus ?? null,
    step: failure.step ?? null,
    retryable: OUTCOME_CODES[failure.code] === 'yes',
    retry_at: failure.retryAt?.toISOString() ?? null,
  };
}

async function reportStep(tx: Tx, operation: Operation, settlement: Settlement): Promise<void> {
  const { step: report, done, ruling, now } = settlement;
  const names = [...(done?.keys() ?? []), ...(report === undefined ? [] : [report.name])];
  if (names.length === 0) return;
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, STEP)} from step s where s.operation_id = ? and s.name in (?)`, [operation.id, names]);
  for (const row of rows) {
    const step = hold(tx, StepEntity, rowOf(tx, STEP, row)!);
    const finished = done?.get(step.name);
    if (finished !== undefined && step.state !== 'done') finishStep(step, finished);
    if (step.name === report?.name) writeReport(step, report, ruling, now);
  }
}

function writeReport(step: Step, report: NonNullable<Settlement['step']>, ruling: Ruling, now: Date): void {
  const { trip } = report;
  Object.assign(step, { state: report.state, httpStatus: report.httpStatus, ...report.finished });
  if (trip !== null) Object.assign(step, { progress: trip.progress, bytesSent: trip.bytesSent, bytesReceived: trip.bytesReceived, sentAt: trip.headersSentAt ?? step.sentAt ?? null });
  step.error = (ruling.kind === 'failed' || ruling.kind === 'unknown') && report.state !== 'done' ? errorOf({ ...ruling.error, step: step.name }) : null;
  if (report.state !== 'sending' && report.state !== 'pending') step.finishedAt = report.finished?.finishedAt ?? now;
}

export function writeEvidence(tx: Tx, operation: Operation, drafts: readonly EvidenceDraft[], now: Date): string[] {
  return drafts.map((draft) => {
    const id = newId('evidence');
    add(tx, EvidenceEntity, { id, organizationId: operation.organizationId, mode: operation.mode, operationId: operation.id, ...draft, probeOrdinal: draft.probeOrdinal ?? null, observedAt: now });
    return id;
  });
}

function tellOutcome(tx: Tx, operation: Operation, before: string, { ruling, now, verdictId }: Settlement): Note[] {
  if (operation.status === before) return [];
  if (ruling.kind === 'unknown') {
    const eventId = writeOperationEvent(tx, 'operation.unknown', operation, now);
    return [
      { type: 'outcome_unknown', message: 'Nobody can tell from the answer whether it happened. It is not sent again.', data: { code: ruling.error.code } },
      { type: 'event_emitted', message: 'operation.unknown was written.', eventId, data: { event: 'operation.unknown', event_id: eventId } },
      ...(ruling.nextProbeAt === null ? [] : [{ type: 'probe_scheduled', message: 'The platform will be read.', data: { at: ruling.nextProbeAt.toISOString() } }]),
    ];
  }
  if (ruling.kind !== 'succeeded' && ruling.kind !== 'failed') return [];
  const notes: Note[] = [{ type: 'settled', message: `The operation ${operation.status} by ${operation.settledBy}.`, data: { status: operation.status, settled_by: operation.settledBy, ...(operation.error ? { code: operation.error.code } : {}) } }];
  if (operation.unknownSince) {
    const eventId = writeOperationEvent(tx, 'operation.resolved', operation, now, { settled_by: operation.settledBy, verdict_id: verdictId ?? null });
    notes.push({ type: 'event_emitted', message: 'operation.resolved was written.', eventId, data: { event: 'operation.resolved', event_id: eventId } });
  }
  return notes;
}

/** Proof of success after a person's verdict replaces it: the negative one is contradicted, the positive one only corrected. */
async function supersedeVerdict(tx: Tx, operation: Operation, before: string, settlement: Settlement, evidenceId: string | null): Promise<void> {
  if (settlement.by.kind === 'verdict' || before !== 'failed') return;
  await tx.nativeUpdate(VerdictEntity, { operationId: operation.id, state: 'applied' }, { state: 'contradicted', contradictedBy: evidenceId });
}

/** A positive verdict that the platform contradicts stays; the contradiction is kept beside it. */
async function contradict(tx: Tx, operation: Operation, settlement: Settlement, evidenceId: string | null, notes: Note[]): Promise<void> {
  if (operation.status !== 'succeeded' || operation.settledBy !== 'verdict' || settlement.ruling.kind !== 'failed' || settlement.by.kind === 'verdict') return;
  await tx.nativeUpdate(VerdictEntity, { operationId: operation.id, state: 'applied' }, { state: 'contradicted', contradictedBy: evidenceId });
  notes.push({ type: 'verdict_contradicted', message: 'The platform says otherwise than the verdict; the verdict stands, the evidence is kept.', evidenceId });
}
