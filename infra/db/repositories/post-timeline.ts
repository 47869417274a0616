import type { Tx } from '../database.ts';
import { TimelineEntryEntity, type TimelineEntry } from '../entities/timeline-entry.entity.ts';

/** An entry of a post or of one of its operations, with the account it is about. */
export interface PostTimelineRow {
  entry: TimelineEntry;
  accountId: string | null;
}

/**
 * Everything that was observed about a post; the entries of its operations carry its id too. `condition` is written on
 * `t.at`, `t.id` and the other columns of `t`. A removed target names no account any more, its operation still does.
 */
export async function listPostTimeline(tx: Tx, postId: string, condition: { sql: string; params: unknown[]; order: string }): Promise<PostTimelineRow[]> {
  const found = await tx.execute<{ id: string; accountId: string | null }[]>(
    `select t.id, coalesce(target.account_id, o.account_id) as "accountId" from timeline_entry t
       left join target on target.id = t.target_id left join operation o on o.id = t.operation_id
      where t.post_id = ? and ${condition.sql} ${condition.order}`,
    [postId, ...condition.params],
  );
  if (found.length === 0) return [];
  const entries = new Map((await tx.find(TimelineEntryEntity, { id: { $in: found.map((row) => row.id) } })).map((entry) => [entry.id, entry]));
  return found.flatMap(({ id, accountId }) => (entries.has(id) ? [{ entry: entries.get(id)!, accountId }] : []));
}
