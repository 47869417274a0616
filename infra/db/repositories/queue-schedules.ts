import type { Tx } from '../database.ts';
import { QueueScheduleEntity, type QueueSchedule } from '../entities/queue-schedule.entity.ts';
import { columnsOf, rowOf } from '../joined.ts';
import { hold } from '../rows.ts';

const SCHEDULE = { alias: 'q', entity: QueueScheduleEntity };

interface Condition {
  sql: string;
  params: unknown[];
}

/** Whose schedules: a workspace's, or with null those of the organization. */
export type QueueScope = Pick<QueueSchedule, 'workspaceId'>;

/** The names by which conditions on schedules are written. */
export const QUEUE_COLUMNS = { id: 'q.id', time: 'q.created_at', workspaceId: 'q.workspace_id', isDefault: 'q.is_default', name: 'q.name' } as const;

export async function listSchedules(tx: Tx, condition: Condition & { order: string }): Promise<QueueSchedule[]> {
  return select(tx, `${condition.sql} ${condition.order}`, condition.params);
}

export async function findSchedule(tx: Tx, id: string): Promise<QueueSchedule | null> {
  const [row] = await select(tx, 'q.id = ?', [id]);
  return row ?? null;
}

/** For a change: the row is written when the transaction ends. */
export async function lockSchedule(tx: Tx, id: string): Promise<QueueSchedule | null> {
  const [row] = await select(tx, 'q.id = ? for no key update', [id]);
  return row === undefined ? null : hold(tx, QueueScheduleEntity, row);
}

export async function findDefault(tx: Tx, { workspaceId }: QueueScope): Promise<QueueSchedule | null> {
  const [row] = await select(tx, 'q.is_default and q.workspace_id is not distinct from ?', [workspaceId]);
  return row ?? null;
}

/** The schedule that a workspace's posts follow: its own default, else the organization's. */
export async function findFollowed(tx: Tx, workspaceId: string | null): Promise<QueueSchedule | null> {
  const [row] = await select(tx, 'q.is_default and (q.workspace_id is null or q.workspace_id = ?) order by q.workspace_id nulls last limit 1', [workspaceId]);
  return row ?? null;
}

/** The same, so that nobody else places a post in it until the transaction ends. What it was while the lock was waited for does not count. */
export async function lockFollowed(tx: Tx, workspaceId: string | null): Promise<QueueSchedule | null> {
  for (;;) {
    const found = await findFollowed(tx, workspaceId);
    if (found === null) return null;
    const [locked] = await select(tx, 'q.id = ? and q.is_default for no key update', [found.id]);
    if (locked !== undefined) return locked;
  }
}

export async function countSchedules(tx: Tx, { workspaceId }: QueueScope): Promise<number> {
  const rows = await tx.execute<{ total: number }[]>('select count(*)::int as total from queue_schedule where workspace_id is not distinct from ?', [workspaceId]);
  return rows[0]!.total;
}

/** Takes the default away from the scope's schedule that has it, at once: of two defaults even one statement must not know. */
export async function clearDefault(tx: Tx, { workspaceId }: QueueScope, now: Date): Promise<void> {
  await tx.execute('update queue_schedule set is_default = false, revision = revision + 1, updated_at = ? where is_default and workspace_id is not distinct from ?', [now, workspaceId]);
}

/** Removes a schedule. Where it was its scope's default, the oldest that is left becomes it. */
export async function deleteSchedule(tx: Tx, schedule: Pick<QueueSchedule, 'id' | 'workspaceId' | 'isDefault'>, now: Date): Promise<void> {
  await tx.execute('delete from queue_schedule where id = ?', [schedule.id]);
  if (!schedule.isDefault) return;
  await tx.execute(
    `update queue_schedule set is_default = true, revision = revision + 1, updated_at = ?
      where id = (select id from queue_schedule where workspace_id is not distinct from ? order by created_at, id limit 1)`,
    [now, schedule.workspaceId],
  );
}

async function select(tx: Tx, clause: string, params: unknown[]): Promise<QueueSchedule[]> {
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, SCHEDULE)} from queue_schedule q where ${clause}`, params);
  return rows.map((row) => rowOf(tx, SCHEDULE, row)!);
}
