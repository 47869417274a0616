import type { OutcomeCode } from '../../infra/contract/errors.ts';
import { KEYED_SENDS_MAX, PATIENCE_MS } from '../../infra/contract/limits.ts';
import type { WaitingFor } from '../../infra/contract/statuses.ts';
import type { FinishedStep } from '../../infra/ledger/claim.ts';
import { isTooLate } from '../../infra/ledger/begin.ts';
import { isPublic } from '../../infra/ledger/effects.ts';
import { placeFreeAt } from '../../infra/ledger/line.ts';
import type { PlannedStep } from '../../providers/provider.ts';
import type { Loaded } from './load.ts';
import { dueAt } from './pace.ts';

/** What to do next with an operation: decided from the row alone, so that any worker at any time decides the same. */
export type Next =
  | { kind: 'settled' }
  /** Somebody holds a claim, or a time is not reached. */
  | { kind: 'wait'; until: Date; reason: string; record?: { for: WaitingFor; heldBy: OutcomeCode | null } }
  | { kind: 'fail'; code: OutcomeCode }
  | { kind: 'late' }
  /** A claim's deadline passed and nobody is alive to answer. */
  | { kind: 'lost' }
  /** A keyed answer was lost: read, then the same key again. */
  | { kind: 'resend'; step: PlannedStep }
  | { kind: 'step'; step: PlannedStep };

export function decide(loaded: Loaded, plan: readonly PlannedStep[], done: ReadonlyMap<string, FinishedStep>, now: Date): Next {
  const { operation } = loaded;
  if (operation.status === 'succeeded' || operation.status === 'failed' || operation.status === 'unknown') return { kind: 'settled' };
  if (operation.status === 'sending') return decideSending(loaded, plan, done, now);
  return mayBegin(loaded, now) ?? nextStep(loaded, plan, done);
}

function decideSending(loaded: Loaded, plan: readonly PlannedStep[], done: ReadonlyMap<string, FinishedStep>, now: Date): Next {
  const { operation, steps } = loaded;
  const inFlight = steps.find((step) => step.name === operation.claimStep);
  if (inFlight?.state === 'done') return nextStep(loaded, plan, done);
  const deadline = operation.claimDeadline!;
  if (deadline > now) return { kind: 'wait', until: deadline, reason: 'a request is under way' };
  const planned = plan.find((step) => step.name === operation.claimStep);
  const again = planned?.effect === 'public_keyed' && planned.key !== undefined && (inFlight?.attempt ?? 0) < KEYED_SENDS_MAX && now.getTime() - operation.claimedAt!.getTime() < planned.key.windowMs;
  return again ? { kind: 'resend', step: planned } : { kind: 'lost' };
}

/** Whether anything may be sent at all now; null = yes. */
function mayBegin(loaded: Loaded, now: Date): Next | null {
  const { operation, account, post, target } = loaded;
  // What a deletion found `sending` and the platform then proved undone is not sent later.
  if (post.deletedAt) return { kind: 'fail', code: 'CANCELLED' };
  if (account.status === 'reconnect_required') return { kind: 'fail', code: 'ACCOUNT_RECONNECT_REQUIRED' };
  if (account.status !== 'active' || loaded.credential === null) return { kind: 'fail', code: 'ACCOUNT_DISCONNECTED' };
  if (now.getTime() - operation.beganAt.getTime() > PATIENCE_MS.publish) return { kind: 'fail', code: (operation.heldBy as OutcomeCode | null) ?? 'OPERATION_EXPIRED' };
  if (post.onLate !== 'publish' && isTooLate(post, now, dueAt(loaded))) return { kind: 'late' };
  if (target.waitingUntil && target.waitingUntil > now) return { kind: 'wait', until: target.waitingUntil, reason: target.waitingFor ?? 'the time the platform asked for' };
  const until = placeFreeAt(account, loaded.pace, loaded.standing, now);
  return until === null ? null : { kind: 'wait', until: earliest(until, endOfWaiting(loaded)), reason: 'the rate budget of the account', record: { for: 'rate_budget', heldBy: 'RATE_LIMITED' } };
}

/** When a wait is over whatever is free then: it is too late by the catch-up rule, or the patience ends. */
function endOfWaiting(loaded: Loaded): Date {
  const { operation, post } = loaded;
  const due = dueAt(loaded);
  const patience = operation.beganAt.getTime() + PATIENCE_MS.publish + 1;
  return new Date(post.onLate === 'publish' || due === null ? patience : Math.min(patience, due.getTime() + (post.maxLatenessSeconds + 1) * 1000));
}

function earliest(a: Date, b: Date): Date {
  return a < b ? a : b;
}

function nextStep(loaded: Loaded, plan: readonly PlannedStep[], done: ReadonlyMap<string, FinishedStep>): Next {
  const finished = (name: string) => done.has(name) || loaded.steps.some((step) => step.name === name && (step.state === 'done' || step.state === 'skipped'));
  const step = plan.find((one) => one.required && !finished(one.name));
  return step === undefined ? { kind: 'settled' } : { kind: 'step', step };
}

export function isDeciding(step: PlannedStep, plan: readonly PlannedStep[]): boolean {
  return isPublic(step.effect) && plan.findLast((one) => one.required && isPublic(one.effect))?.name === step.name;
}
