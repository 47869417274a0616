import type { Tx } from '../database.ts';
import { COUNTED_STATUSES, PACED_KINDS } from './accounts.ts';

/** When an account publishes, or has published, a post. */
export interface BusyTarget {
  accountId: string;
  postId: string;
  /** Of the post. */
  workspaceId: string | null;
  at: Date;
  /** Whether a send is still to come for it, which will then count against the budget. */
  isAhead: boolean;
}

interface BusyQuestion {
  accountIds: readonly string[];
  now: Date;
  /** How far back what was published still matters. */
  since: Date;
  /** A post that is in nobody's way, because it is the one to be placed. */
  exceptPostId: string | null;
}

/** The targets of these accounts that are in the way of others, in one read. What is due already happens now, and what has to wait happens then. */
export async function readBusyTargets(tx: Tx, { accountIds, now, since, exceptPostId }: BusyQuestion): Promise<BusyTarget[]> {
  if (accountIds.length === 0) return [];
  const rows = await tx.execute<{ account_id: string; post_id: string; workspace_id: string | null; at: string; is_ahead: boolean }[]>(
    `select t.account_id, t.post_id, p.workspace_id, t.published_at as at, false as is_ahead from target t join post p on p.id = t.post_id
      where t.account_id in (?) and t.status = 'published' and t.published_at > ? and t.post_id is distinct from ?
     union all
     select t.account_id, t.post_id, p.workspace_id, greatest(p.scheduled_at, t.waiting_until, ?::timestamptz), o.status is distinct from 'sending'
       from target t join post p on p.id = t.post_id left join operation o on o.id = t.operation_id
      where t.account_id in (?) and t.status in ('scheduled', 'publishing') and (t.status = 'publishing' or p.deleted_at is null) and t.post_id is distinct from ?`,
    [accountIds, since, exceptPostId, now, accountIds, exceptPostId],
  );
  return rows.map((row) => ({ accountId: row.account_id, postId: row.post_id, workspaceId: row.workspace_id, at: new Date(row.at), isAhead: row.is_ahead }));
}

/** When these accounts sent what counts against their budgets. */
export async function readSends(tx: Tx, accountIds: readonly string[], since: Date): Promise<{ accountId: string; at: Date }[]> {
  if (accountIds.length === 0) return [];
  const rows = await tx.execute<{ account_id: string; claimed_at: string }[]>(
    'select account_id, claimed_at from operation where account_id in (?) and claimed_at > ? and kind in (?) and status in (?)',
    [accountIds, since, PACED_KINDS, COUNTED_STATUSES],
  );
  return rows.map((row) => ({ accountId: row.account_id, at: new Date(row.claimed_at) }));
}

/** The posts of a workspace (null = of none) that are planned for a moment after `after`, by that moment in milliseconds. */
export async function readPlannedPosts(tx: Tx, { workspaceId, after, exceptPostId }: { workspaceId: string | null; after: Date; exceptPostId: string | null }): Promise<Map<number, { postId: string; workspaceId: string | null }>> {
  // In the words of the index of planned posts: no scheduled post has been published.
  const rows = await tx.execute<{ id: string; scheduled_at: string }[]>(
    `select id, scheduled_at from post
      where scheduled_at > ? and published_at is null and deleted_at is null and status = 'scheduled' and workspace_id is not distinct from ? and id is distinct from ?`,
    [after, workspaceId, exceptPostId],
  );
  return new Map(rows.map((row) => [new Date(row.scheduled_at).getTime(), { postId: row.id, workspaceId }]));
}

const PLACING = 4403;

/**
 * Lets one transaction at a time place posts of the organization and mode, so that no two get one slot. Taken before the
 * units of the month: who creates several posts takes it before the first of them.
 */
export async function lockPlacing(tx: Tx): Promise<void> {
  await tx.execute(`select pg_advisory_xact_lock(${PLACING}, hashtext(concat_ws(' ', current_setting('app.org'), current_setting('app.mode'))))`);
}
