import type { Infra } from '../../../infra/context.ts';
import { ApiError } from '../../../infra/contract/errors.ts';
import type { Tx } from '../../../infra/db/database.ts';
import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import { countEvidence, newestEvidence } from '../../../infra/db/repositories/evidence.ts';
import { findOperation, newestTimeline, stepsOf } from '../../../infra/db/repositories/operations.ts';
import { flush } from '../../../infra/db/rows.ts';
import { verdictsInForce } from '../../../infra/db/repositories/verdicts.ts';
import type { Call, Caller } from '../../route.ts';
import { assertWorkspaceAccess } from '../../workspace-access.ts';
import { presentOperation } from './operations.present.ts';

type Wire = Record<string, unknown>;

/** Row 29: the operation that a path names. */
export async function loadOperation(call: { tx: Tx; caller: Caller }, id: string): Promise<Operation> {
  const operation = await findOperation(call.tx, id);
  if (operation === null) throw new ApiError('NOT_FOUND', 'There is no operation with this id. It belongs to the other mode, is older than 400 days, or never was.', { details: { resource: 'operation' } });
  assertWorkspaceAccess(call.caller, operation.workspaceId ?? null);
  return operation;
}

/** An operation in full, as single reads show it. What the transaction changed is written first. */
export async function showOperation(tx: Tx, operation: Operation, infra: Pick<Infra, 'config'>): Promise<Wire> {
  await flush(tx);
  // Steps that were read before are read as they are now.
  tx.clear();
  const [steps, timeline, evidence, counts, verdicts] = [
    await stepsOf(tx, [operation.id]), await newestTimeline(tx, operation.id), await newestEvidence(tx, operation.id), await countEvidence(tx, [operation.id]), await verdictsInForce(tx, [operation]),
  ];
  return presentOperation({
    operation, timeline, evidence, steps: steps.get(operation.id) ?? [], evidenceCount: counts.get(operation.id) ?? 0, verdict: verdicts.get(operation.id) ?? null,
  }, infra.config.temporal.uiUrl);
}

/** Operations as lists show them. */
export async function showOperations(tx: Tx, operations: readonly Operation[], shown: { uiUrl: string | null; steps: boolean }): Promise<Wire[]> {
  const ids = operations.map((operation) => operation.id);
  const counts = await countEvidence(tx, ids);
  const verdicts = await verdictsInForce(tx, operations);
  const steps = shown.steps ? await stepsOf(tx, ids) : null;
  return operations.map((operation) => presentOperation({
    operation, evidenceCount: counts.get(operation.id) ?? 0, verdict: verdicts.get(operation.id) ?? null, ...(steps === null ? {} : { steps: steps.get(operation.id) ?? [] }),
  }, shown.uiUrl));
}

/** A replay shows the operation as it is now; one that is gone meanwhile, as it was. */
export async function replayOperation(stored: unknown, call: Call): Promise<unknown> {
  const operation = await findOperation(call.tx, (stored as { id: string }).id);
  return operation === null ? stored : showOperation(call.tx, operation, call.infra);
}
