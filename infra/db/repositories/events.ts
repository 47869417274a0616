import { newId } from '../../contract/ids.ts';
import { instant, presentTargets } from '../../wire/post-target.ts';
import type { Tx } from '../database.ts';
import type { Account } from '../entities/account.entity.ts';
import { EventEntity } from '../entities/event.entity.ts';
import type { Operation } from '../entities/operation.entity.ts';
import type { Post } from '../entities/post.entity.ts';
import type { Tag } from '../entities/tag.entity.ts';
import type { Target } from '../entities/target.entity.ts';
import { add } from '../rows.ts';

const EVENT_CONTENT_CHARS = 500;
const EVENT_MAX_BYTES = 60_000;

export interface PostState {
  post: Post;
  targets: readonly Target[];
  accounts: ReadonlyMap<string, Account>;
  operations: ReadonlyMap<string, Pick<Operation, 'id' | 'status'>>;
  /** Read only where the post is shown. */
  tags?: readonly Tag[];
}

/**
 * Writes an event of a post in the transaction of its state change and returns its id. The post row must be locked:
 * its counter gives the sequence, so that it has no gaps.
 */
export function writePostEvent(tx: Tx, event: string, state: PostState, now: Date, more: Record<string, unknown> = {}): string {
  const { post } = state;
  post.eventSeq += 1;
  const data = { ...postData(state), ...more };
  if (Buffer.byteLength(JSON.stringify(data)) > EVENT_MAX_BYTES) Object.assign(data, { targets: null, truncated: true });
  return persist(tx, post, { event, subjectType: 'post', subjectId: post.id, sequence: post.eventSeq, data }, now);
}

export function writePostDeleted(tx: Tx, post: Post, statusBefore: string, now: Date): string {
  post.eventSeq += 1;
  return persist(tx, post, { event: 'post.deleted', subjectType: 'post', subjectId: post.id, sequence: post.eventSeq, data: { post_id: post.id, status: statusBefore, workspace_id: post.workspaceId ?? null } }, now);
}

export function writeOperationEvent(tx: Tx, event: 'operation.unknown' | 'operation.resolved', operation: Operation, now: Date, more: Record<string, unknown> = {}): string {
  operation.eventSeq += 1;
  return persist(tx, operation, { event, subjectType: 'operation', subjectId: operation.id, sequence: operation.eventSeq, data: { ...operationData(operation), ...more } }, now);
}

export function writeAccountReconnect(tx: Tx, account: Account, scheduledTargets: number, now: Date): string {
  account.eventSeq += 1;
  const data = {
    account_id: account.id, platform: account.platform, username: account.username ?? null,
    display_name: account.displayNameOverride ?? account.displayName ?? null, workspace_id: account.workspaceId ?? null,
    reason: account.statusReason ?? null, scheduled_targets: scheduledTargets,
  };
  return persist(tx, account, { event: 'account.reconnect_required', subjectType: 'account', subjectId: account.id, sequence: account.eventSeq, data }, now);
}

/** The account can publish again, with a new credential. */
export function writeAccountConnected(tx: Tx, account: Account, now: Date): string {
  account.eventSeq += 1;
  const data = {
    account_id: account.id, platform: account.platform, username: account.username ?? null,
    display_name: account.displayNameOverride ?? account.displayName ?? null, workspace_id: account.workspaceId ?? null, reconnected: true,
  };
  return persist(tx, account, { event: 'account.connected', subjectType: 'account', subjectId: account.id, sequence: account.eventSeq, data }, now);
}

function persist(tx: Tx, row: Post | Operation | Account, event: { event: string; subjectType: string; subjectId: string; sequence: number; data: Record<string, unknown> }, now: Date): string {
  const id = newId('event');
  add(tx, EventEntity, { id, organizationId: row.organizationId, mode: row.mode, workspaceId: row.workspaceId ?? null, ...event, createdAt: now });
  return id;
}

function postData({ post, targets, accounts, operations }: PostState): Record<string, unknown> {
  return {
    post_id: post.id,
    status: post.status,
    content: post.content === null || post.content === undefined ? null : [...post.content].slice(0, EVENT_CONTENT_CHARS).join(''),
    scheduled_at: instant(post.scheduledAt),
    published_at: instant(post.publishedAt),
    workspace_id: post.workspaceId ?? null,
    recycled_from_id: null,
    thread_group_id: null,
    thread_position: null,
    targets: presentTargets(targets, { accounts, operations }),
  };
}

function operationData(operation: Operation): Record<string, unknown> {
  return {
    operation_id: operation.id,
    kind: operation.kind,
    action: operation.action ?? null,
    status: operation.status,
    platform: operation.platform,
    account_id: operation.accountId,
    post_id: operation.postId ?? null,
    target_id: operation.targetId ?? null,
    subject: { type: operation.subjectType, id: operation.subjectId },
    error: operation.error ? { code: operation.error.code, message: operation.error.message } : null,
    result: operation.result ? { platform_post_id: operation.result.platform_post_id, url: operation.result.url } : null,
    probing: operation.probing,
    unknown_since: instant(operation.unknownSince),
  };
}
