import { OUTCOME_CODES, type OutcomeCode } from '../contract/errors.ts';
import { OUTCOME_MESSAGES } from '../contract/outcome-messages.ts';
import type { Tx } from '../db/database.ts';
import { OperationEntity, type Operation } from '../db/entities/operation.entity.ts';
import type { Target, TargetError } from '../db/entities/target.entity.ts';
import type { Failure, Ruling } from './settlement.ts';

/**
 * Lets a target show what its operation says. Returns whether the target changed: it does not when a newer attempt of
 * the same target is open or has succeeded, nor when its post went back to draft since; then the operation alone changes.
 */
export async function followTarget(tx: Tx, work: { target: Target; operation: Operation; ruling: Ruling; now: Date }): Promise<boolean> {
  const { target, operation, ruling, now } = work;
  if (target.status === 'draft' || target.status === 'scheduled') return false;
  if (target.operationId !== operation.id && (await newerAttemptStands(tx, target))) return false;
  switch (ruling.kind) {
    case 'succeeded':
      if (target.operationId !== operation.id) target.operationId = operation.id;
      Object.assign(target, { status: 'published', publishedAt: target.publishedAt ?? now, platformPostId: ruling.proof.platformPostId, url: ruling.proof.url, error: null });
      break;
    case 'failed':
      Object.assign(target, { status: 'failed', error: targetError(ruling.error, operation.id) });
      break;
    case 'unknown':
      Object.assign(target, { status: 'failed', error: targetError({ ...ruling.error, code: 'PROVIDER_OUTCOME_UNKNOWN' }, operation.id) });
      break;
    case 'not_done':
      Object.assign(target, { waitingFor: ruling.wait?.for ?? null, waitingUntil: ruling.wait?.until ?? null, updatedAt: now });
      return true;
    case 'resend':
    case 'checkpoint':
      return false;
    default:
      ruling satisfies never;
  }
  Object.assign(target, { waitingFor: null, waitingUntil: null, updatedAt: now });
  return true;
}

async function newerAttemptStands(tx: Tx, target: Target): Promise<boolean> {
  const newest = await tx.findOneOrFail(OperationEntity, { id: target.operationId! });
  return newest.status !== 'failed';
}

export function targetError(failure: Failure, operationId: string | null): TargetError {
  return {
    code: failure.code,
    message: OUTCOME_MESSAGES[failure.code],
    ...(failure.platformMessage ? { detail: failure.platformMessage } : {}),
    ...(failure.platformCode ? { provider_code: failure.platformCode } : {}),
    retryable: OUTCOME_CODES[failure.code as OutcomeCode] !== 'no',
    ...(operationId === null ? {} : { operation_id: operationId }),
  };
}
