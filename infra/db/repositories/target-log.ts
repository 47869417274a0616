import type { Platform } from '../../contract/platforms.ts';
import type { TargetStatus } from '../../contract/statuses.ts';
import type { Tx } from '../database.ts';
import type { TargetError } from '../entities/target.entity.ts';
import type { Position } from '../keyset.ts';

/** A target as the publishing log shows it, deleted posts included. */
export interface LogRow {
  id: string;
  postId: string;
  accountId: string;
  platform: Platform;
  status: TargetStatus;
  platformPostId: string | null;
  url: string | null;
  error: TargetError | null;
  publishedAt: Date | null;
  updatedAt: Date;
  operationId: string | null;
  attempt: number;
  workspaceId: string | null;
  deletedAt: Date | null;
  /** Its place in the listing under way. */
  listedAt: Date;
}

const COLUMNS = `target.id, target.post_id as "postId", target.account_id as "accountId", target.platform, target.status,
  target.platform_post_id as "platformPostId", target.url, target.error, target.published_at as "publishedAt", target.updated_at as "updatedAt",
  target.operation_id as "operationId", target.attempt, post.workspace_id as "workspaceId", post.deleted_at as "deletedAt"`;

/**
 * Where a row that changed after the listing began stands in it: where it stood before. Of a row that changed more than
 * once only its creation is sure, so it comes there: rather once more than never.
 */
const KEPT_PLACE = 'case when target.updated_before <= ? then target.updated_before else target.created_at end';

interface LogQuery {
  where: { sql: string; params: unknown[] };
  limit: number;
  after: Position | null;
  from: Date | null;
  to: Date | null;
  ceiling: Date;
}

/** One row more than a page holds, newest change first. */
export async function logRows(tx: Tx, query: LogQuery): Promise<LogRow[]> {
  const { where, limit, ceiling } = query;
  const still = branch({ place: 'target.updated_at', placeParams: [], among: 'target.updated_at <= ?', query });
  const moved = branch({ place: KEPT_PLACE, placeParams: [ceiling], among: 'target.updated_at > ? and target.created_at <= ?', amongParams: [ceiling, ceiling], query });
  const select = (one: Branch) => `(select ${COLUMNS}, ${one.place} as "listedAt" from target join post on post.id = target.post_id
    where ${where.sql} and ${one.sql} order by ${one.place} desc, target.id desc limit ${limit + 1})`;
  const params = (one: Branch) => [...one.placeParams, ...where.params, ...one.params, ...one.placeParams];
  const rows = await tx.execute<LogRow[]>(
    `select * from (${select(still)} union all ${select(moved)}) listed order by "listedAt" desc, id desc limit ${limit + 1}`,
    [...params(still), ...params(moved)],
  );
  return rows.map(withDates);
}

export async function logRow(tx: Tx, targetId: string): Promise<LogRow | null> {
  const rows = await tx.execute<LogRow[]>(`select ${COLUMNS}, target.updated_at as "listedAt" from target join post on post.id = target.post_id where target.id = ?`, [targetId]);
  return rows[0] === undefined ? null : withDates(rows[0]);
}

interface Branch {
  place: string;
  placeParams: unknown[];
  sql: string;
  params: unknown[];
}

function branch(of: { place: string; placeParams: unknown[]; among: string; amongParams?: unknown[]; query: LogQuery }): Branch {
  const { place, placeParams, query } = of;
  const parts = [
    { sql: of.among, params: of.amongParams ?? [query.ceiling] },
    ...(query.from === null ? [] : [{ sql: `${place} >= ?`, params: [...placeParams, query.from] }]),
    ...(query.to === null ? [] : [{ sql: `${place} <= ?`, params: [...placeParams, query.to] }]),
    ...(query.after === null ? [] : [{ sql: `(${place}, target.id) < (?, ?)`, params: [...placeParams, query.after.at, query.after.id] }]),
  ];
  return { place, placeParams, sql: parts.map((part) => `(${part.sql})`).join(' and '), params: parts.flatMap((part) => part.params) };
}

/** The driver gives times of raw queries as text. */
function withDates(row: LogRow): LogRow {
  const date = (value: Date | string | null) => (value === null ? null : new Date(value));
  return { ...row, publishedAt: date(row.publishedAt), updatedAt: date(row.updatedAt)!, deletedAt: date(row.deletedAt), listedAt: date(row.listedAt)! };
}
