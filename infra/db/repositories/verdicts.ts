import { newId } from '../../contract/ids.ts';
import type { Tx } from '../database.ts';
import type { Operation } from '../entities/operation.entity.ts';
import { VerdictEntity, type Verdict } from '../entities/verdict.entity.ts';

/** The verdicts that hold, by operation. One that the platform contradicted still does while nothing else settled its operation. */
export async function verdictsInForce(tx: Tx, operations: readonly Pick<Operation, 'id' | 'settledBy'>[]): Promise<Map<string, Verdict>> {
  const decided = operations.filter((one) => one.settledBy === 'verdict').map((one) => one.id);
  const rows = operations.length === 0 ? [] : await tx.find(VerdictEntity, {
    $or: [{ operationId: { $in: operations.map((one) => one.id) }, state: 'applied' }, { operationId: { $in: decided }, state: 'contradicted' }],
  }, { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  return new Map(rows.map((row) => [row.operationId, row]));
}

/** `condition` is written on `v.created_at` and `v.id`. */
export async function listVerdicts(tx: Tx, operationId: string, condition: { sql: string; params: unknown[]; order: string }): Promise<Verdict[]> {
  const found = await tx.execute<{ id: string }[]>(`select v.id from verdict v where v.operation_id = ? and ${condition.sql} ${condition.order}`, [operationId, ...condition.params]);
  if (found.length === 0) return [];
  return tx.find(VerdictEntity, { id: { $in: found.map((row) => row.id) } }, { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
}

type NewVerdict = Pick<Verdict, 'outcome' | 'platformPostId' | 'url' | 'reason' | 'actor' | 'requestId' | 'expectedRevision'>;

/** Written in the transaction that applies it: there is no verdict that waits. */
export function insertVerdict(tx: Tx, operation: Pick<Operation, 'id' | 'organizationId' | 'mode'>, verdict: NewVerdict, now: Date): Verdict {
  return tx.create(VerdictEntity, {
    id: newId('verdict'), organizationId: operation.organizationId, mode: operation.mode, operationId: operation.id, ...verdict, state: 'applied',
    contradictedBy: null, createdAt: now, appliedAt: now,
  }, { persist: true });
}
