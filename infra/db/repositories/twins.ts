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
  const rows = await tx.execute<{ account_id: string; id: string; post_id: string; workspace_id: string | null; at: Date | string }[]>(
    `select * from (
       select target.account_id, target.id, target.post_id, post.workspace_id, coalesce(target.published_at, post.scheduled_at, post.created_at) as at
         from target join post on post.id = target.post_id left join operation on operation.id = target.operation_id
        where (target.account_id, target.fingerprint) in (${wanted.map(() => '(?, ?)').join(', ')})
          and post.deleted_at is null and target.post_id is distinct from ?
          and (target.status in ('scheduled', 'publishing', 'published') or (target.status = 'failed' and operation.status = 'unknown'))
     ) twin where at between ? and ? order by at, id`,
    [...wanted.flatMap(({ accountId, fingerprint }) => [accountId, fingerprint]), exceptPostId, from, to],
  );
  return new Map(rows.map((row) => [row.account_id, { postId: row.post_id, workspaceId: row.workspace_id, targetId: row.id, at: new Date(row.at) }]));
}
