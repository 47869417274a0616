import type { Tx } from '../db/database.ts';
import type { Operation } from '../db/entities/operation.entity.ts';
import type { OutboxRow } from '../db/entities/outbox.entity.ts';
import type { Step } from '../db/entities/step.entity.ts';
import type { Verdict } from '../db/entities/verdict.entity.ts';
import { stepsOf } from '../db/repositories/operations.ts';
import { startReconcile, wakeReconcile } from '../db/repositories/outbox.ts';
import { insertVerdict, verdictsInForce } from '../db/repositories/verdicts.ts';
import { isPublic } from './effects.ts';
import { lockOperation } from './post-state.ts';
import { settle } from './settle.ts';
import type { Ruling, StepReport } from './settlement.ts';

const FIRST_SAFETY_PROBE_MS = 3_600_000;

export interface GivenVerdict {
  operationId: string;
  happened: boolean;
  outcome: Verdict['outcome'];
  platformPostId: string | null;
  url: string | null;
  reason: string;
  /** The revision that was looked at; null = whatever is current. */
  expectedRevision: number | null;
  supersedes: string | null;
  actor: Verdict['actor'];
  requestId: string;
  now: Date;
}

export type VerdictAnswer =
  | { kind: 'applied'; operation: Operation; outbox: OutboxRow[] }
  /** Nothing to do: it is settled, and just so. */
  | { kind: 'agrees'; operation: Operation }
  | { kind: 'not_unknown'; operation: Operation }
  | { kind: 'conflict'; reason: 'settled' | 'decided' | 'revision' | 'superseding'; details: Record<string, unknown> };

/**
 * A person's decision on an unknown outcome, by compare-and-set under the lock of the post, so that of two decisions, or of a
 * decision and a late answer, exactly one settles. Safe to repeat: an equal verdict changes nothing.
 */
export async function giveVerdict(tx: Tx, given: GivenVerdict, options: { activityTimeoutMs: number }): Promise<VerdictAnswer> {
  const operation = await lockForVerdict(tx, given.operationId);
  if (operation.status === 'pending' || operation.status === 'sending') return { kind: 'not_unknown', operation };
  if (given.supersedes !== null) return { kind: 'conflict', reason: 'superseding', details: { reason: 'not_current', status: operation.status } };
  if (operation.status !== 'unknown') return compare(tx, operation, given);
  if (given.expectedRevision !== null && given.expectedRevision !== operation.revision) {
    return { kind: 'conflict', reason: 'revision', details: { current_revision: operation.revision, status: operation.status } };
  }
  return apply(tx, operation, { given, ...options });
}

/** The lock order of the ledger: the post, then the operation. */
async function lockForVerdict(tx: Tx, id: string): Promise<Operation> {
  return (await lockOperation(tx, id)).operation;
}

async function compare(tx: Tx, operation: Operation, given: GivenVerdict): Promise<VerdictAnswer> {
  const verdict = (await verdictsInForce(tx, [operation])).get(operation.id);
  if (operation.settledBy === 'verdict' && verdict !== undefined) {
    const isEqual = verdict.outcome === given.outcome && (verdict.platformPostId ?? null) === given.platformPostId && (verdict.url ?? null) === given.url;
    if (isEqual) return { kind: 'agrees', operation };
    return { kind: 'conflict', reason: 'decided', details: { verdict_id: verdict.id, outcome: verdict.outcome, actor: verdict.actor, created_at: verdict.createdAt.toISOString() } };
  }
  const known = operation.result?.platform_post_id ?? null;
  const agrees = given.happened === didHappen(operation) && (given.platformPostId === null || known === null || given.platformPostId === known);
  if (agrees) return { kind: 'agrees', operation };
  return { kind: 'conflict', reason: 'settled', details: { status: operation.status, settled_by: operation.settledBy, platform_post_id: known } };
}

/** `STEPS_REMAINING` says that the asked-about step did happen, and only later ones did not. */
function didHappen(operation: Operation): boolean {
  return operation.status === 'succeeded' || operation.error?.code === 'STEPS_REMAINING';
}

async function apply(tx: Tx, operation: Operation, { given, activityTimeoutMs }: { given: GivenVerdict; activityTimeoutMs: number }): Promise<VerdictAnswer> {
  const { now } = given;
  const isReadable = operation.probing !== 'unavailable';
  const steps = (await stepsOf(tx, [operation.id])).get(operation.id) ?? [];
  const step = steps.find((one) => one.state === 'unknown') ?? steps.find((one) => one.name === operation.claimStep);
  const isPart = given.happened && step !== undefined && steps.some((one) => one.position > step.position && one.required && isPublic(one.effect) && one.state !== 'done');
  const verdict = insertVerdict(tx, operation, { ...given, expectedRevision: given.expectedRevision ?? operation.revision }, now);
  await settle(tx, {
    operationId: operation.id, by: { kind: 'verdict' }, ruling: rulingOf(given, step, isPart), verdictId: verdict.id, now,
    ...(step === undefined ? {} : { step: reportOf(given, step) }),
    notes: [{ type: 'verdict_given', message: `A person decided: ${given.outcome.replaceAll('_', ' ')}.`, verdictId: verdict.id, requestId: given.requestId, actor: { type: given.actor.type, id: given.actor.id }, data: { verdict_id: verdict.id, outcome: given.outcome } }],
  }, { activityTimeoutMs });
  operation.partial ||= isPart || steps.some((one) => one !== step && one.state === 'done' && isPublic(one.effect) && !given.happened);
  if (isPart) operation.result = { platform_post_id: given.platformPostId, url: given.url, items: [{ step: step.name, platform_post_id: given.platformPostId, url: given.url }] };
  const outbox = [await wakeReconcile(tx, operation, now)];
  if (!given.happened && isReadable) {
    // A proof of success would beat this verdict, so the platform is read twice more.
    operation.nextProbeAt = new Date(now.getTime() + FIRST_SAFETY_PROBE_MS);
    outbox.unshift(await startReconcile(tx, operation, { activityTimeoutMs, now }));
  }
  return { kind: 'applied', operation, outbox };
}

function rulingOf(given: GivenVerdict, step: Step | undefined, isPart: boolean): Ruling {
  if (!given.happened) return { kind: 'failed', error: { code: 'VERDICT_DID_NOT_HAPPEN', step: step?.name ?? null } };
  if (isPart) return { kind: 'failed', error: { code: 'STEPS_REMAINING', step: step?.name ?? null } };
  return { kind: 'succeeded', proof: { platformPostId: given.platformPostId, url: given.url } };
}

/** What was observed of the request stays as it was observed; the verdict only ends the step. */
function reportOf(given: GivenVerdict, step: Step): StepReport {
  const { platformPostId: id, url, now } = given;
  return {
    name: step.name, state: given.happened ? 'done' : 'refused', trip: null, httpStatus: step.httpStatus ?? null,
    ...(given.happened && id !== null ? { finished: { checkpoint: { id, url }, providerId: id, finishedAt: now, usableUntil: null } } : {}),
  };
}
