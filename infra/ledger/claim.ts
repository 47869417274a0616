import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { inScope, tenant } from '../db/tenant.ts';
import type { Database, Tx } from '../db/database.ts';
import { AccountEntity } from '../db/entities/account.entity.ts';
import { OperationEntity, type Operation } from '../db/entities/operation.entity.ts';
import { StepEntity, type Step } from '../db/entities/step.entity.ts';
import { forgetStart } from '../db/repositories/outbox.ts';
import { isPublic } from './effects.ts';
import type { StepEffect } from '../contract/statuses.ts';

/** A plan's step as the ledger stores it. */
export interface StepPlan {
  name: string;
  effect: StepEffect;
  required: boolean;
}

export interface ClaimRequest {
  operation: Pick<Operation, 'id' | 'organizationId' | 'mode' | 'accountId'>;
  step: string;
  plan: readonly StepPlan[];
  /** Results of this run's read and private steps that have no commit of their own. */
  done: ReadonlyMap<string, FinishedStep>;
  now: Date;
  deadline: Date;
  minGapSeconds: number;
}

export interface FinishedStep {
  checkpoint: Record<string, string | number | boolean | null>;
  providerId: string | null;
  finishedAt: Date;
  usableUntil: Date | null;
}

/**
 * Takes the right to write one public request: `pending → sending`, in its own committed transaction, before a byte leaves.
 * Returns the token, or null when somebody else was first. Dying right after it leaves a claim whose deadline
 * passes: the outcome is then unknown, because nobody can tell whether a byte left.
 */
export async function claim(db: Database, request: ClaimRequest): Promise<string | null> {
  const token = randomBytes(16).toString('hex');
  return inScope(db, tenant(request.operation), async (tx) => {
    const operation = await tx.findOneOrFail(OperationEntity, { id: request.operation.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const steps = await storePlan(tx, operation, request);
    if (!(await mayClaim(operation, steps, request))) return null;
    if (request.minGapSeconds > 0 && !(await takeGap(tx, request))) return null;
    const step = steps.find((one) => one.name === request.step)!;
    if (operation.status !== 'sending') operation.revision += 1;
    Object.assign(operation, { status: 'sending', claimToken: token, claimStep: step.name, claimDeadline: request.deadline, claimedAt: operation.claimedAt ?? request.now, updatedAt: request.now });
    Object.assign(step, { state: 'sending', attempt: step.attempt + 1, startedAt: request.now, progress: 'connecting' });
    await forgetStart(tx, operation.workflowId);
    return token;
  });
}

/** A claim is free when nothing is in flight; a keyed step may be claimed anew with its key; an unkeyed one never twice. */
async function mayClaim(operation: Operation, steps: readonly Step[], request: ClaimRequest): Promise<boolean> {
  const step = steps.find((one) => one.name === request.step);
  if (step === undefined || !isPublic(step.effect) || step.state === 'done' || step.state === 'unknown') return false;
  if (operation.status === 'pending') return true;
  if (operation.status !== 'sending') return false;
  const inFlight = steps.find((one) => one.name === operation.claimStep);
  if (inFlight?.state === 'done') return true;
  return inFlight?.name === step.name && step.effect === 'public_keyed' && operation.claimDeadline! <= request.now;
}

async function storePlan(tx: Tx, operation: Operation, request: ClaimRequest): Promise<Step[]> {
  const stored = await tx.find(StepEntity, { operationId: operation.id });
  return request.plan.map((planned, position) => {
    const step = stored.find((one) => one.name === planned.name) ?? newStep(tx, operation, { ...planned, position });
    const finished = request.done.get(planned.name);
    if (finished !== undefined && step.state !== 'done') finishStep(step, finished);
    return step;
  });
}

export function newStep(tx: Tx, operation: Pick<Operation, 'id' | 'organizationId' | 'mode'>, plan: StepPlan & { position: number }): Step {
  return tx.create(StepEntity, {
    operationId: operation.id, organizationId: operation.organizationId, mode: operation.mode, ...plan, state: 'pending',
    attempt: 0, reused: false, progress: 'not_started',
  }, { persist: true });
}

export function finishStep(step: Step, finished: FinishedStep): void {
  Object.assign(step, { state: 'done', attempt: step.attempt + 1, progress: 'answered', ...finished, startedAt: step.startedAt ?? finished.finishedAt });
}

/** Keeps the account's gap: the row lock lets one send of the account through at a time, and the next only after the gap. */
async function takeGap(tx: Tx, request: ClaimRequest): Promise<boolean> {
  const account = await tx.findOneOrFail(AccountEntity, { id: request.operation.accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (account.nextAllowedAt && account.nextAllowedAt > request.now) return false;
  account.nextAllowedAt = new Date(request.now.getTime() + request.minGapSeconds * 1000);
  return true;
}
