import type { Tx } from '../database.ts';

/** A target with the same content on the same account. */
export interface Twin {
  postId: string;
  /** Of the post. */
  workspaceId: string | null;
  targetId: string;
  at: Date;
}

/**
 * By account, the latest target with the wanted fingerprint that is public, on its way or planned within a span of time;
 * one whose outcome is unknown counts, because it may be public.
 */
export async function findTwins(tx: Tx, query: { wanted: readonly { accountId: string; fingerprint: string }[]; from: Date; to: Date; exceptPostId: string | null }): Promise<Map<string, Twin>> {
  const { wanted, from, to, exceptPostId } = query;
  // Each account is asked for by itself, and its targets before their posts: a transaction that creates many posts fills an
  // organization of which the statistics know nothing, and all of its targets would be read for every post.
  const rows = await tx.execute<{ account_id: string; id: string; post_id: string; workspace_id: string | null; at: Date | string }[]>(
    `select wanted.account_id, twin.* from (values ${wanted.map(() => '(?, ?)').join(', ')}) wanted (account_id, fingerprint) cross join lateral (
       select same.id, same.post_id, post.workspace_id, coalesce(same.published_at, post.scheduled_at, post.created_at) as at
         from (select * from target where account_id = wanted.account_id and fingerprint = wanted.fingerprint offset 0) same
         join post on post.id = same.post_id left join operation on operation.id = same.operation_id
        where post.deleted_at is null and same.post_id is distinct from ? and coalesce(same.published_at, post.scheduled_at, post.created_at) between ? and ?
          and (same.status in ('scheduled', 'publishing', 'published') or (same.status = 'failed' and operation.status = 'unknown'))
        order by at desc, same.id desc limit 1
     ) twin`,
    [...wanted.flatMap(({ accountId, fingerprint }) => [accountId, fingerprint]), exceptPostId, from, to],
  );
  return new Map(rows.map((row) => [row.account_id, { postId: row.post_id, workspaceId: row.workspace_id, targetId: row.id, at: new Date(row.at) }]));
}
