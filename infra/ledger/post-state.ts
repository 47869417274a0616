import { postStatusOf } from '../contract/statuses.ts';
import type { Tx } from '../db/database.ts';
import { AccountEntity } from '../db/entities/account.entity.ts';
import { OperationEntity, type Operation } from '../db/entities/operation.entity.ts';
import { PostEntity, type Post } from '../db/entities/post.entity.ts';
import { TargetEntity, type Target } from '../db/entities/target.entity.ts';
import { writePostEvent, type PostState } from '../db/repositories/events.ts';
import { columnsOf, rowOf, type Part } from '../db/joined.ts';
import { hold } from '../db/rows.ts';
import { notePost } from '../db/repositories/timeline.ts';

const POST = { alias: 'p', entity: PostEntity };
const OPERATION = { alias: 'o', entity: OperationEntity };
const TARGET = { alias: 't', entity: TargetEntity };
const ACCOUNT = { alias: 'a', entity: AccountEntity };

/** Locks a post and loads what its status and its events are made of. Every change of a target goes through here. */
export async function lockPost(tx: Tx, postId: string): Promise<PostState | null> {
  const post = await lockRow(tx, POST, 'post p where p.id = ?', postId);
  return post === null ? null : loadLocked(tx, post);
}

/** Locks an operation together with its post, the post first, as every writer does. The operation is as it is under the locks. */
export async function lockOperation(tx: Tx, operationId: string): Promise<{ operation: Operation; state: PostState | null }> {
  const post = await lockRow(tx, POST, 'post p where p.id = (select post_id from operation where id = ?)', operationId);
  const operation = await lockRow(tx, OPERATION, 'operation o where o.id = ?', operationId);
  if (operation === null) throw new Error(`operation ${operationId} is gone`);
  return { operation, state: post === null ? null : await loadLocked(tx, post) };
}

async function lockRow<T extends object>(tx: Tx, part: Part<T>, from: string, id: string): Promise<T | null> {
  const [row] = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, part)} from ${from} for update`, [id]);
  return row === undefined ? null : hold(tx, part.entity, rowOf(tx, part, row)!);
}

/** The status of each held target that its timeline knows of. */
const told = new WeakMap<Target, Target['status']>();

/** Targets change only under the lock of their post, so with it they may be held. */
async function loadLocked(tx: Tx, post: Post): Promise<PostState> {
  const state = await loadState(tx, post);
  const targets = state.targets.map((target) => hold(tx, TargetEntity, target));
  for (const target of targets) if (!told.has(target)) told.set(target, target.status);
  return { ...state, targets };
}

/** A statement of its own, because one that waited for a lock shows other tables as they were before the wait. */
export async function loadState(tx: Tx, post: Post): Promise<PostState> {
  const rows = await tx.execute<Record<string, unknown>[]>(
    `select ${columnsOf(tx, TARGET, ACCOUNT)}, o.id as operation, o.status as operation_status
       from target t left join account a on a.id = t.account_id left join operation o on o.id = t.operation_id where t.post_id = ? order by t.position`, [post.id]);
  const accounts = rows.flatMap((row) => rowOf(tx, ACCOUNT, row) ?? []);
  const operations = rows.flatMap((row) => (row.operation === null ? [] : [{ id: row.operation as string, status: row.operation_status as Operation['status'] }]));
  return { post, targets: rows.map((row) => rowOf(tx, TARGET, row)!), accounts: new Map(accounts.map((one) => [one.id, one])), operations: new Map(operations.map((one) => [one.id, one])) };
}

/**
 * Computes the post's status anew from its targets and tells what became of them. Part of the transaction that changed a
 * target, under the post's lock; what caused the change is told before. Returns the event's id and name, if one was written.
 */
export function refreshPost(tx: Tx, state: PostState, now: Date): Ending | null {
  return tellChanges(tx, state, { before: followTargets(state, now), now });
}

interface Ending {
  event: string;
  eventId: string;
}

/** The first half, for whoever tells the cause by an event that shows the post as it is now. Returns the status before. */
export function followTargets({ post, targets }: PostState, now: Date): Post['status'] {
  const before = post.status;
  post.status = postStatusOf(targets.map((target) => target.status));
  post.updatedAt = now;
  const published = targets.flatMap((target) => (target.publishedAt && !target.unpublishedAt ? [target.publishedAt] : []));
  if (!post.publishedAt && published.length > 0) post.publishedAt = new Date(Math.min(...published.map((at) => at.getTime())));
  return before;
}

/** The second half: an entry for each target that is another now, and the event where the post has ended. */
export function tellChanges(tx: Tx, state: PostState, { before, now }: { before: Post['status']; now: Date }): Ending | null {
  const { post, targets } = state;
  for (const target of targets) tellTarget(tx, post, target, now);
  const ended = post.status === 'published' || post.status === 'partial' || post.status === 'failed';
  if (before === post.status || !ended || post.deletedAt) return null;
  const event = `post.${post.status}`;
  const eventId = writePostEvent(tx, event, state, now);
  notePost(tx, post, [{ type: 'post_changed', message: `The post is ${post.status}.`, eventId, data: { from: before, to: post.status } }], now);
  return { event, eventId };
}

function tellTarget(tx: Tx, post: Post, target: Target, now: Date): void {
  const from = told.get(target);
  if (from === undefined || from === target.status) return;
  told.set(target, target.status);
  const data = { from, to: target.status, ...(target.error ? { code: target.error.code } : {}) };
  notePost(tx, post, [{ type: 'target_changed', message: `The target is ${target.status}.`, targetId: target.id, data }], now);
}
