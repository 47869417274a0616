import { LockMode } from '@mikro-orm/core';
import { SUMMARY_COUNT_MAX, TIMELINE_SHOWN_MAX } from '../../contract/limits.ts';
import type { Platform } from '../../contract/platforms.ts';
import { OPERATION_STATUSES, type OperationStatus } from '../../contract/statuses.ts';
import type { Tx } from '../database.ts';
import { OperationEntity, type Operation } from '../entities/operation.entity.ts';
import { StepEntity, type Step } from '../entities/step.entity.ts';
import { TimelineEntryEntity, type TimelineEntry } from '../entities/timeline-entry.entity.ts';

interface Condition {
  sql: string;
  params: unknown[];
}

/** The names by which conditions on operations are written. */
export const OPERATION_COLUMNS = {
  id: 'o.id', createdAt: 'o.created_at', unknownSince: 'o.unknown_since', workspaceId: 'o.workspace_id', status: 'o.status', kind: 'o.kind', platform: 'o.platform',
  accountId: 'o.account_id', postId: 'o.post_id', targetId: 'o.target_id', subjectId: 'o.subject_id', settledBy: 'o.settled_by', probing: 'o.probing',
} as const;

export async function listOperations(tx: Tx, condition: Condition & { order: string }): Promise<Operation[]> {
  const found = await tx.execute<{ id: string }[]>(`select o.id from operation o where ${condition.sql} ${condition.order}`, condition.params);
  if (found.length === 0) return [];
  const rows = await tx.find(OperationEntity, { id: { $in: found.map((row) => row.id) } });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return found.flatMap(({ id }) => byId.get(id) ?? []);
}

export async function findOperation(tx: Tx, id: string): Promise<Operation | null> {
  return tx.findOne(OperationEntity, { id });
}

/** For changes that concern the operation alone. What moves a target takes the lock of its post first (see the ledger). */
export async function lockOperationRow(tx: Tx, id: string): Promise<Operation> {
  return tx.findOneOrFail(OperationEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Steps in the order of the plan, by operation. */
export async function stepsOf(tx: Tx, operationIds: readonly string[]): Promise<Map<string, Step[]>> {
  const steps = operationIds.length === 0 ? [] : await tx.find(StepEntity, { operationId: { $in: [...operationIds] } }, { orderBy: { position: 'asc' } });
  return Map.groupBy(steps, (step) => step.operationId);
}

/** The newest entries, oldest first. */
export async function newestTimeline(tx: Tx, operationId: string): Promise<TimelineEntry[]> {
  const entries = await tx.find(TimelineEntryEntity, { operationId }, { orderBy: [{ at: 'desc' }, { id: 'desc' }], limit: TIMELINE_SHOWN_MAX });
  return entries.toReversed();
}

/** `condition` is written on `t.at` and `t.id`. */
export async function listTimeline(tx: Tx, operationId: string, condition: Condition & { order: string }): Promise<TimelineEntry[]> {
  const found = await tx.execute<{ id: string }[]>(`select t.id from timeline_entry t where t.operation_id = ? and ${condition.sql} ${condition.order}`, [operationId, ...condition.params]);
  if (found.length === 0) return [];
  return tx.find(TimelineEntryEntity, { id: { $in: found.map((row) => row.id) } }, { orderBy: [{ at: 'asc' }, { id: 'asc' }] });
}

/** Counts above the maximum are the maximum plus one: nobody reads a whole table to be told a number. */
export interface OperationCounts {
  byStatus: Map<OperationStatus, number>;
  unknownByPlatform: Map<Platform, number>;
  oldestUnknownSince: Date | null;
}

export async function countOperations(tx: Tx, condition: Condition): Promise<OperationCounts> {
  const bounded = (status: string) => `select '${status}' as status, count(*)::int as count from (select 1 from operation o where ${condition.sql} and o.status = '${status}' limit ${SUMMARY_COUNT_MAX + 1}) counted`;
  const statuses = await tx.execute<{ status: OperationStatus; count: number }[]>(OPERATION_STATUSES.map(bounded).join(' union all '), OPERATION_STATUSES.flatMap(() => condition.params));
  const unknown = await tx.execute<{ platform: Platform; count: number; oldest: string | Date }[]>(
    `select platform, count(*)::int as count, min(unknown_since) as oldest
       from (select o.platform, o.unknown_since from operation o where ${condition.sql} and o.status = 'unknown' order by o.unknown_since limit ${SUMMARY_COUNT_MAX + 1}) counted group by platform`,
    condition.params,
  );
  const oldest = unknown.map((row) => new Date(row.oldest).getTime());
  return {
    byStatus: new Map(statuses.map((row) => [row.status, row.count])),
    unknownByPlatform: new Map(unknown.map((row) => [row.platform, row.count])),
    oldestUnknownSince: oldest.length === 0 ? null : new Date(Math.min(...oldest)),
  };
}

/** When people asked for reads of this operation since a moment, oldest first. */
export async function probeRequestsSince(tx: Tx, operationId: string, since: Date): Promise<Date[]> {
  const rows = await tx.find(TimelineEntryEntity, { operationId, type: 'probe_requested', at: { $gt: since } }, { orderBy: { at: 'asc' } });
  return rows.map((row) => row.at);
}

/** Reads of the platform with this account's credential since a moment, oldest first; at most as many as are asked for. */
export async function probesOfAccountSince(tx: Tx, work: { accountId: string; since: Date; limit: number }): Promise<Date[]> {
  const rows = await tx.execute<{ at: string | Date }[]>(
    `select t.at from timeline_entry t join operation o on o.id = t.operation_id
      where o.account_id = ? and o.last_probe_at > ? and t.type = 'probe_started' and t.at > ? order by t.at desc limit ?`,
    [work.accountId, work.since, work.since, work.limit],
  );
  return rows.map((row) => new Date(row.at)).toReversed();
}
