import { EVIDENCE_SHOWN_MAX } from '../../contract/limits.ts';
import type { Tx } from '../database.ts';
import { EvidenceEntity, type Evidence } from '../entities/evidence.entity.ts';

const NEWEST_FIRST = [{ observedAt: 'desc' }, { id: 'desc' }] as const;

/** Operations without any are absent. */
export async function countEvidence(tx: Tx, operationIds: readonly string[]): Promise<Map<string, number>> {
  if (operationIds.length === 0) return new Map();
  const rows = await tx.execute<{ operation_id: string; count: number }[]>('select operation_id, count(*)::int as count from evidence where operation_id in (?) group by operation_id', [operationIds]);
  return new Map(rows.map((row) => [row.operation_id, row.count]));
}

export async function newestEvidence(tx: Tx, operationId: string): Promise<Evidence[]> {
  return tx.find(EvidenceEntity, { operationId }, { orderBy: [...NEWEST_FIRST], limit: EVIDENCE_SHOWN_MAX });
}

/** `condition` is written on `e.observed_at` and `e.id`. */
export async function listEvidence(tx: Tx, operationId: string, condition: { sql: string; params: unknown[]; order: string }): Promise<Evidence[]> {
  const found = await tx.execute<{ id: string }[]>(`select e.id from evidence e where e.operation_id = ? and ${condition.sql} ${condition.order}`, [operationId, ...condition.params]);
  if (found.length === 0) return [];
  return tx.find(EvidenceEntity, { id: { $in: found.map((row) => row.id) } }, { orderBy: [...NEWEST_FIRST] });
}
