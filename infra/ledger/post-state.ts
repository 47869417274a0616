import { LockMode } from '@mikro-orm/core';
import { postStatusOf } from '../contract/statuses.ts';
import type { Tx } from '../db/database.ts';
import { AccountEntity } from '../db/entities/account.entity.ts';
import { OperationEntity, type Operation } from '../db/entities/operation.entity.ts';
import { PostEntity, type Post } from '../db/entities/post.entity.ts';
import { TargetEntity } from '../db/entities/target.entity.ts';
import { writePostEvent, type PostState } from '../db/repositories/events.ts';
import { lockOperationRow } from '../db/repositories/operations.ts';
import { notePost } from '../db/repositories/timeline.ts';

/** Locks a post and loads what its status and its events are made of. Every change of a target goes through here. */
export async function lockPost(tx: Tx, postId: string): Promise<PostState | null> {
  const post = await tx.findOne(PostEntity, { id: postId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return post === null ? null : loadState(tx, post);
}

/** Locks an operation together with its post, the post first, as every writer does. The operation is as it is under the locks. */
export async function lockOperation(tx: Tx, operationId: string): Promise<{ operation: Operation; state: PostState | null }> {
  const [pointer] = await tx.execute<{ post_id: string | null }[]>('select post_id from operation where id = ?', [operationId]);
  const post = pointer?.post_id ? await tx.findOne(PostEntity, { id: pointer.post_id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  const operation = await lockOperationRow(tx, operationId);
  return { operation, state: post === null ? null : await loadState(tx, post, [operation]) };
}

/** `known`: operations that were read in this transaction already. */
export async function loadState(tx: Tx, post: Post, known: readonly Operation[] = []): Promise<PostState> {
  const targets = await tx.find(TargetEntity, { postId: post.id }, { orderBy: { position: 'asc' } });
  const accounts = await tx.find(AccountEntity, { id: { $in: targets.map((target) => target.accountId) } });
  const operationIds = targets.flatMap((target) => target.operationId ?? []);
  const unread = operationIds.filter((id) => !known.some((one) => one.id === id));
  const read = unread.length === 0 ? [] : await tx.find(OperationEntity, { id: { $in: unread } });
  const operations = [...known.filter((one) => operationIds.includes(one.id)), ...read];
  return { post, targets, accounts: new Map(accounts.map((one) => [one.id, one])), operations: new Map(operations.map((one) => [one.id, one])) };
}

/**
 * Computes the post's status anew from its targets and writes the event of an ending. Part of the transaction that
 * changed a target, under the post's lock. Returns the event's id and name, if one was written.
 */
export function refreshPost(tx: Tx, state: PostState, now: Date): { event: string; eventId: string } | null {
  const { post, targets } = state;
  const before = post.status;
  post.status = postStatusOf(targets.map((target) => target.status));
  post.updatedAt = now;
  const published = targets.flatMap((target) => (target.publishedAt && !target.unpublishedAt ? [target.publishedAt] : []));
  if (!post.publishedAt && published.length > 0) post.publishedAt = new Date(Math.min(...published.map((at) => at.getTime())));
  const ended = post.status === 'published' || post.status === 'partial' || post.status === 'failed';
  if (before === post.status || !ended || post.deletedAt) return null;
  const event = `post.${post.status}`;
  const eventId = writePostEvent(tx, event, state, now);
  notePost(tx, post, [{ type: 'post_changed', message: `The post is ${post.status}.`, eventId, data: { from: before, to: post.status } }], now);
  return { event, eventId };
}
