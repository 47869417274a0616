import { loadState } from '../../ledger/post-state.ts';
import type { Tx } from '../database.ts';
import { AccountEntity } from '../entities/account.entity.ts';
import type { Operation } from '../entities/operation.entity.ts';
import { PostEntity, type Post } from '../entities/post.entity.ts';
import { TagEntity, type Tag } from '../entities/tag.entity.ts';
import { TargetEntity } from '../entities/target.entity.ts';
import { columnsOf, rowOf } from '../joined.ts';
import type { PostState } from './events.ts';

const POST = { alias: 'post', entity: PostEntity };
const TARGET = { alias: 'target', entity: TargetEntity };
const ACCOUNT = { alias: 'account', entity: AccountEntity };
const TAG = { alias: 'tag', entity: TagEntity };

/** The tags of a post ride along with it: most posts have none, and a statement of their own would be felt on every page. */
const TAGS = `(select json_agg(tag order by lower(tag.name), tag.id) from post_tag join tag on tag.id = post_tag.tag_id where post_tag.post_id = post.id) as tags`;

interface Tagged {
  post: Post;
  tags: Tag[];
}

/** A post with what its presentation is made of, without a lock. Deleted posts are found too. */
export async function readPost(tx: Tx, id: string): Promise<PostState | null> {
  const [row] = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, POST)}, ${TAGS} from post where post.id = ?`, [id]);
  if (row === undefined) return null;
  const { post, tags } = taggedOf(tx, row);
  return { ...(await loadState(tx, post)), tags };
}

/** The row alone, without the unit of work of the ORM, which every reading route would feel. */
export async function findPostRow(tx: Tx, id: string): Promise<Post | null> {
  const [row] = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, POST)} from post where id = ?`, [id]);
  return row === undefined ? null : rowOf(tx, POST, row);
}

/** Whether a target is under way and not put off to a time beyond the deadline. */
export async function hasTargetToWaitFor(tx: Tx, postId: string, deadline: Date): Promise<boolean> {
  const rows = await tx.execute<{ id: string }[]>(
    `select target.id from target join post on post.id = target.post_id
     where target.post_id = ? and post.deleted_at is null and target.status = 'publishing' and (target.waiting_until is null or target.waiting_until <= ?) limit 1`,
    [postId, deadline],
  );
  return rows.length > 0;
}

/** A post with its place in the list. */
export interface ListedPost extends Tagged {
  at: Date;
}

/** What posts are found by, and the columns that its order is made of. */
export interface ListSource {
  from: string;
  time: string;
  id: string;
  /** A post may be found more than once. */
  isRepeating: boolean;
}

interface Branch {
  sql: string;
  params: unknown[];
  order: string;
}

/**
 * The posts of a page, one more than it holds, in its order. What is listed may be told as several branches that have no
 * post in common, so that each can be read in order.
 */
export async function listPosts(tx: Tx, list: { source: ListSource; branches: readonly Branch[]; limit: number }): Promise<ListedPost[]> {
  const { from, time, id, isRepeating } = list.source;
  const select = ({ sql, order }: Branch) => `(select ${isRepeating ? `distinct on (${time}, ${id})` : ''} ${columnsOf(tx, POST)}, ${time} as at, ${TAGS} from ${from} where ${sql} ${order})`;
  const all = list.branches.map(select).join(' union all ');
  const merged = list.branches.length === 1 ? all : `${all} order by at desc, post__id desc limit ${list.limit + 1}`;
  const rows = await tx.execute<Record<string, unknown>[]>(merged, list.branches.flatMap(({ params }) => params));
  return rows.map((row) => ({ ...taggedOf(tx, row), at: new Date(row.at as string) }));
}

/** With their targets, and with accounts and operations only where the targets are shown. In the order given. */
export async function withTargets(tx: Tx, posts: readonly Tagged[], options: { withRelated: boolean }): Promise<PostState[]> {
  if (posts.length === 0) return [];
  const related = options.withRelated
    ? { columns: `, ${columnsOf(tx, ACCOUNT)}, operation.id as operation, operation.status as operation_status`, join: 'left join account on account.id = target.account_id left join operation on operation.id = target.operation_id' }
    : { columns: '', join: '' };
  const rows = await tx.execute<Record<string, unknown>[]>(
    `select ${columnsOf(tx, TARGET)}${related.columns} from target ${related.join} where target.post_id in (?) order by target.position`, [posts.map(({ post }) => post.id)]);
  const accounts = new Map(options.withRelated ? rows.flatMap((row) => rowOf(tx, ACCOUNT, row) ?? []).map((one) => [one.id, one]) : []);
  const operations = new Map(rows.flatMap((row) => (row.operation ? [{ id: row.operation as string, status: row.operation_status as Operation['status'] }] : [])).map((one) => [one.id, one]));
  const ofPost = Map.groupBy(rows.map((row) => rowOf(tx, TARGET, row)!), (target) => target.postId);
  return posts.map(({ post, tags }) => ({ post, tags, targets: ofPost.get(post.id) ?? [], accounts, operations }));
}

function taggedOf(tx: Tx, row: Record<string, unknown>): Tagged {
  const tags = (row.tags ?? []) as Record<string, unknown>[];
  return { post: rowOf(tx, POST, row)!, tags: tags.map((tag) => rowOf(tx, TAG, Object.fromEntries(Object.entries(tag).map(([name, value]) => [`tag__${name}`, value])))!) };
}
