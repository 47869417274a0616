import { LockMode } from '@mikro-orm/core';
import type { OutcomeCode } from '../contract/errors.ts';
import type { WaitingFor } from '../contract/statuses.ts';
import { inScope, tenant } from '../db/tenant.ts';
import type { Database, Tx } from '../db/database.ts';
import { AccountEntity } from '../db/entities/account.entity.ts';
import { OperationEntity, type Operation } from '../db/entities/operation.entity.ts';
import { StepEntity } from '../db/entities/step.entity.ts';
import { noteOperation } from '../db/repositories/timeline.ts';
import { finishStep, newStep, type FinishedStep, type StepPlan } from './claim.ts';
import { isPublic } from './effects.ts';
import { notePaced } from './paced.ts';
import { lockPost } from './post-state.ts';

type Ref = Pick<Operation, 'id' | 'organizationId' | 'mode'>;

/** Stores the result of a private step, so that work resumes after it. Dying before it repeats the step, which nobody sees. */
export async function checkpoint(db: Database, ref: Ref, work: { plan: readonly StepPlan[]; done: ReadonlyMap<string, FinishedStep>; now: Date }): Promise<void> {
  await inScope(db, tenant(ref), async (tx) => {
    const operation = await tx.findOneOrFail(OperationEntity, { id: ref.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (operation.status !== 'pending' && operation.status !== 'sending') return;
    const stored = await tx.find(StepEntity, { operationId: ref.id });
    for (const [position, planned] of work.plan.entries()) {
      const step = stored.find((one) => one.name === planned.name) ?? newStep(tx, operation, { ...planned, position });
      const finished = work.done.get(planned.name);
      if (finished === undefined || step.state === 'done') continue;
      finishStep(step, finished);
      noteOperation(tx, operation, [{ type: 'step_done', message: `${step.name} is done.`, step: step.name, attempt: step.attempt }], work.now);
    }
    Object.assign(operation, { failuresInARow: 0, heldBy: null, updatedAt: work.now });
  });
}

/** Forgets the result of a private step that the platform no longer has. */
export async function forgetStep(db: Database, ref: Ref, name: string): Promise<void> {
  await inScope(db, tenant(ref), (tx) => tx.nativeUpdate(StepEntity, { operationId: ref.id, name, effect: { $in: ['read', 'private'] } }, { state: 'pending', checkpoint: null, providerId: null }));
}

export interface Wait {
  for: WaitingFor | null;
  until: Date;
  heldBy: OutcomeCode | null;
  reason: string;
  /** The step that has to be asked again. */
  step?: { name: string; plan: readonly StepPlan[] };
  countsAsFailure: boolean;
  now: Date;
}

/** Shows why a pending operation waits and until when. A wait that is lost with the process is only found again. */
export async function recordWait(db: Database, ref: Ref, wait: Wait): Promise<void> {
  await inScope(db, tenant(ref), async (tx) => {
    const pointer = await tx.findOneOrFail(OperationEntity, { id: ref.id });
    const state = pointer.postId ? await lockPost(tx, pointer.postId) : null;
    const operation = await tx.findOneOrFail(OperationEntity, { id: ref.id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    if (operation.status !== 'pending') return;
    Object.assign(operation, { heldBy: wait.heldBy, updatedAt: wait.now, failuresInARow: operation.failuresInARow + (wait.countsAsFailure ? 1 : 0) });
    if (wait.step) await noteAsked(tx, operation, wait.step, wait.now);
    const target = state?.targets.find((one) => one.id === operation.targetId);
    if (target) Object.assign(target, { waitingFor: wait.for, waitingUntil: wait.until, updatedAt: wait.now });
    if (state) state.post.updatedAt = wait.now;
    notePaced(tx, { operation, state }, wait, wait.now);
  });
}

async function noteAsked(tx: Tx, operation: Operation, asked: NonNullable<Wait['step']>, now: Date): Promise<void> {
  const position = asked.plan.findIndex((one) => one.name === asked.name);
  const stored = await tx.find(StepEntity, { operationId: operation.id });
  // A plan is stored whole or not at all, so that what is stored can be followed by somebody else.
  for (const [index, planned] of asked.plan.entries()) if (!stored.some((one) => one.name === planned.name)) stored.push(newStep(tx, operation, { ...planned, position: index }));
  const step = stored.find((one) => one.position === position && one.name === asked.name)!;
  // A public request begins with its claim, and is counted there: who never got that far has used up none of its repetitions.
  Object.assign(step, { attempt: step.attempt + (isPublic(step.effect) ? 0 : 1), startedAt: step.startedAt ?? now });
}

/** The platform's own limit makes the whole account wait. */
export async function accountWaits(db: Database, account: { id: string } & Pick<Operation, 'organizationId' | 'mode'>, until: Date): Promise<void> {
  await inScope(db, tenant(account), (tx) => tx.execute('update account set next_allowed_at = greatest(next_allowed_at, ?) where id = ?', [until, account.id]));
}

export async function storeFacts(db: Database, account: { id: string } & Pick<Operation, 'organizationId' | 'mode'>, facts: Record<string, unknown>, now: Date): Promise<void> {
  await inScope(db, tenant(account), (tx) => tx.nativeUpdate(AccountEntity, { id: account.id }, { facts, factsAt: now }));
}
