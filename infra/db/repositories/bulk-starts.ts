import { BULK_STARTS_PER_SECOND } from '../../contract/limits.ts';
import { PRIORITY } from '../../contract/queues.ts';
import { workflowIds } from '../../contract/workflows.ts';
import type { Mode } from '../../contract/platforms.ts';
import type { Tx } from '../database.ts';

export const BULK_START_GAP_MS = 1_000 / BULK_STARTS_PER_SECOND;

const STARTS = 4402;

/**
 * Spreads the starts of posts that were just accepted together, in their order and behind all that still wait. The lock makes
 * requests at the same time queue up; it is taken last, and the commit that follows ends it.
 */
export async function spreadStarts(tx: Tx, of: { organizationId: string; mode: Mode }, work: { postIds: readonly string[]; now: Date }): Promise<void> {
  if (work.postIds.length === 0) return;
  const ids = work.postIds.map((id) => `start:${workflowIds.publishPost(id, 1)}`);
  const rows = await tx.execute<{ id: string }[]>(`select id from outbox where priority = ${PRIORITY.bulk} and id in (?)`, [ids]);
  const found = new Set(rows.map((row) => row.id));
  const mine = ids.filter((id) => found.has(id));
  if (mine.length === 0) return;
  await tx.execute(`select pg_advisory_xact_lock(${STARTS}, hashtext(concat_ws(' ', ?::text, ?::text)))`, [of.organizationId, of.mode]);
  const [last] = await tx.execute<{ at: string | null }[]>(
    `select max(available_at) as at from outbox where organization_id = ? and mode = ? and priority = ${PRIORITY.bulk} and attempts = 0 and id not in (?)`, [of.organizationId, of.mode, mine]);
  const latest = Math.max(work.now.getTime(), last?.at ? new Date(last.at).getTime() : 0);
  const values = mine.map((id, index) => ({ id, at: new Date(latest + (index + 1) * BULK_START_GAP_MS) }));
  await tx.execute(
    `update outbox set available_at = turn.at from (values ${values.map(() => '(?::text, ?::timestamptz)').join(', ')}) as turn (id, at) where outbox.id = turn.id`,
    values.flatMap(({ id, at }) => [id, at]));
}
