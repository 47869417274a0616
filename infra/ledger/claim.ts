import { randomBytes } from 'node:crypto';
import { KEYED_SENDS_MAX } from '../contract/limits.ts';
import type { StepEffect } from '../contract/statuses.ts';
import { inScope, tenant } from '../db/tenant.ts';
import type { Database, Tx } from '../db/database.ts';
import type { Operation } from '../db/entities/operation.entity.ts';
import { StepEntity, type Step } from '../db/entities/step.entity.ts';
import { columnsOf, rowOf } from '../db/joined.ts';
import { startForgotten } from '../db/repositories/outbox.ts';
import { insertOf, writeTogether, type Statement } from '../db/rows.ts';
import { isPublic } from './effects.ts';
import { takePlace, type Pace } from './line.ts';

const STEP = { alias: 's', entity: StepEntity };

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
  /** Null where nothing keeps the account's sends apart. */
  pace: Pace | null;
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
  return inScope(db, tenant(request.operation), async (tx) => {
    const operation = await lockForClaim(tx, request.operation.id);
    // A statement of its own: joined to the lock, it would show the steps as they were before the wait for the lock.
    const plan = fillPlan(await storedSteps(tx, request.operation.id), request);
    // A later step of the same operation goes out in the place that the first one took.
    const isPaced = request.pace !== null && operation.status === 'pending';
    const isMine = mayClaim(operation, plan.steps, request) && (!isPaced || (await takePlace(tx, request.operation.accountId, request.pace!, request.now)));
    const token = isMine ? randomBytes(16).toString('hex') : null;
    await write(tx, { operation, plan, request, token });
    return token;
  });
}

type Claimed = Pick<Operation, 'status' | 'claimStep' | 'workflowId'> & { claimDeadline: Date | null; isDeleted: boolean };

async function lockForClaim(tx: Tx, id: string): Promise<Claimed> {
  const [row] = await tx.execute<{ status: Operation['status']; claim_step: string | null; claim_deadline: string | null; workflow_id: string; is_deleted: boolean | null }[]>(
    'select status, claim_step, claim_deadline, workflow_id, (select deleted_at is not null from post where post.id = operation.post_id) as is_deleted from operation where id = ? for update', [id]);
  if (row === undefined) throw new Error(`operation ${id} is gone`);
  return { status: row.status, claimStep: row.claim_step, claimDeadline: row.claim_deadline === null ? null : new Date(row.claim_deadline), workflowId: row.workflow_id, isDeleted: row.is_deleted === true };
}

async function storedSteps(tx: Tx, operationId: string): Promise<Step[]> {
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, STEP)} from step s where s.operation_id = ?`, [operationId]);
  return rows.map((row) => rowOf(tx, STEP, row)!);
}

/** What changes of a stored step here; the rest of it belongs to others. */
const TAKEN = ['state', 'attempt', 'progress', 'checkpoint', 'providerId', 'startedAt', 'finishedAt', 'usableUntil'] as const;

/** One statement. Without a token nothing is claimed, but what was done so far is kept. */
async function write(tx: Tx, { operation, plan, request, token }: { operation: Claimed; plan: Plan; request: ClaimRequest; token: string | null }): Promise<void> {
  const { now, deadline } = request;
  const statements: Statement[] = [];
  if (token !== null) {
    const step = plan.steps.find((one) => one.name === request.step)!;
    Object.assign(step, { state: 'sending', attempt: step.attempt + 1, startedAt: now, progress: 'connecting' });
    plan.changed.add(step);
    statements.push({
      sql: `update operation set "status" = 'sending', "claim_token" = ?, "claim_step" = ?, "claim_deadline" = ?, "claimed_at" = coalesce(claimed_at, ?), "updated_at" = ?, "revision" = revision + ? where id = ?`,
      params: [token, step.name, deadline, now, now, operation.status === 'sending' ? 0 : 1, request.operation.id],
    }, startForgotten(operation.workflowId));
  }
  if (plan.changed.size > 0) statements.push(insertOf(tx, StepEntity, [...plan.changed], { key: 'operation_id, name', takes: TAKEN }));
  await writeTogether(tx, statements);
}

/** A claim is free when nothing is in flight; a keyed step may be claimed anew with its key; an unkeyed one never twice. */
function mayClaim(operation: Claimed, steps: readonly Step[], request: ClaimRequest): boolean {
  const step = steps.find((one) => one.name === request.step);
  if (step === undefined || !isPublic(step.effect) || step.state === 'done' || step.state === 'unknown') return false;
  // The post may have been deleted while an earlier request of it was being refused; who looks again cancels it.
  if (operation.status === 'pending') return !operation.isDeleted;
  if (operation.status !== 'sending') return false;
  const inFlight = steps.find((one) => one.name === operation.claimStep);
  if (inFlight?.state === 'done') return true;
  // Counted under the lock: of two who saw the last repetition free, one takes it.
  return inFlight?.name === step.name && step.effect === 'public_keyed' && step.attempt < KEYED_SENDS_MAX && operation.claimDeadline! <= request.now;
}

interface Plan {
  steps: Step[];
  changed: Set<Step>;
}

/** The plan's steps as stored, with those that are not stored yet and the results of this run. */
function fillPlan(stored: readonly Step[], request: ClaimRequest): Plan {
  const changed = new Set<Step>();
  const steps = request.plan.map((planned, position) => {
    const known = stored.find((one) => one.name === planned.name);
    const step = known ?? freshStep(request.operation, { ...planned, position });
    const finished = step.state === 'done' ? undefined : request.done.get(planned.name);
    if (finished !== undefined) finishStep(step, finished);
    if (known === undefined || finished !== undefined) changed.add(step);
    return step;
  });
  return { steps, changed };
}

type Owner = Pick<Operation, 'id' | 'organizationId' | 'mode'>;

function freshStep({ id, organizationId, mode }: Owner, plan: StepPlan & { position: number }): Step {
  const { name, effect, required, position } = plan;
  return { operationId: id, organizationId, mode, name, effect, required, position, state: 'pending', attempt: 0, reused: false, progress: 'not_started' } as Step;
}

export function newStep(tx: Tx, operation: Owner, plan: StepPlan & { position: number }): Step {
  return tx.create(StepEntity, freshStep(operation, plan), { persist: true });
}

export function finishStep(step: Step, finished: FinishedStep): void {
  Object.assign(step, { state: 'done', attempt: step.attempt + 1, progress: 'answered', ...finished, startedAt: step.startedAt ?? finished.finishedAt });
}
