import { PRIORITY } from '../../contract/queues.ts';
import type { Mode } from '../../contract/platforms.ts';
import { WORKFLOWS, workflowIds, type OperationRef, type PublishPostInput, type ReconcileOperationInput } from '../../contract/workflows.ts';
import type { Tx } from '../database.ts';
import type { Operation } from '../entities/operation.entity.ts';
import { OutboxEntity, type OutboxRow } from '../entities/outbox.entity.ts';
import type { Post } from '../entities/post.entity.ts';
import { insertOf, type Statement } from '../rows.ts';
import { notePost } from './timeline.ts';

interface Tenant {
  organizationId: string;
  mode: Mode;
}

type Told = Pick<OutboxRow, 'intent' | 'workflow' | 'workflowId' | 'args' | 'summary' | 'searchAttributes' | 'priority' | 'startAt' | 'availableAt'>;

/** One row per workflow and intent; the same row twice is one row, so a repetition is harmless. */
async function put(tx: Tx, tenant: Tenant, row: Told, now: Date): Promise<OutboxRow> {
  const full = { ...row, id: `${row.intent}:${row.workflowId}`, organizationId: tenant.organizationId, mode: tenant.mode, attempts: 0, createdAt: now } as OutboxRow;
  const { sql, params } = insertOf(tx, OutboxEntity, [full], { key: 'id', takes: ['availableAt', 'startAt', 'args'] });
  await tx.execute(sql, params);
  return full;
}

/** Starts of one organization within one second: the first ones at once, the others one after another. */
const STARTS_AT_ONCE = 10;
const START_GAP_MS = 10;
/** More than these start together with the last, half a minute late. */
const STARTS_IN_ROW_MAX = 3_000;

/**
 * Temporal wakes what is due in the order of time, whoever it belongs to. A crowd that is due in one second is therefore put
 * in a row, so that another organization's post of that second does not wait until the whole crowd is awake.
 */
async function inTurn(tx: Tx, { organizationId, mode }: Tenant, scheduledAt: Date): Promise<Date> {
  const second = Math.floor(scheduledAt.getTime() / 1000) * 1000;
  const [row] = await tx.execute<{ before: number }[]>(
    `select count(*)::int as before from (select from post where organization_id = ? and mode = ? and deleted_at is null and status = 'scheduled'
        and published_at is null and scheduled_at >= ? and scheduled_at < ? limit ?) as crowd`,
    [organizationId, mode, new Date(second), new Date(second + 1000), STARTS_IN_ROW_MAX]);
  return new Date(scheduledAt.getTime() + Math.max(0, row!.before - STARTS_AT_ONCE) * START_GAP_MS);
}

/** The workflow that carries a post: at once with the operations it is given, or at its due time. */
export async function startPublishPost(tx: Tx, work: { post: Post; platforms: string[]; operations?: OperationRef[]; availableAt: Date; now: Date; activityTimeoutMs: number; priority?: number }): Promise<OutboxRow> {
  const { post, platforms, operations } = work;
  const args: PublishPostInput = { postId: post.id, seq: post.seq, ...(operations === undefined ? {} : { operations }), activityTimeoutMs: work.activityTimeoutMs };
  return put(tx, post, {
    intent: 'start',
    workflow: WORKFLOWS.publishPost,
    workflowId: workflowIds.publishPost(post.id, post.seq),
    args,
    summary: `publish ${post.id} → ${platforms.join(', ')}`.slice(0, 400),
    searchAttributes: { OrganizationId: post.organizationId, PostId: post.id, Platform: [...new Set(platforms)] },
    priority: work.priority ?? (operations === undefined ? PRIORITY.scheduled : PRIORITY.now),
    startAt: operations === undefined && post.scheduledAt ? await inTurn(tx, post, post.scheduledAt) : null,
    availableAt: work.availableAt,
  }, work.now);
}

export async function cancelPublishPost(tx: Tx, post: Post, seq: number, now: Date): Promise<OutboxRow> {
  const workflowId = workflowIds.publishPost(post.id, seq);
  await tx.nativeDelete(OutboxEntity, { id: `start:${workflowId}` });
  notePost(tx, post, [{ type: 'superseded', message: 'The run that waited for the due time will do nothing.', data: { seq } }], now);
  return put(tx, post, { intent: 'cancel', workflow: WORKFLOWS.publishPost, workflowId, args: null, summary: '', searchAttributes: {}, priority: PRIORITY.scheduled, startAt: null, availableAt: now }, now);
}

export async function startReconcile(tx: Tx, operation: Operation, options: { activityTimeoutMs: number; now: Date }): Promise<OutboxRow> {
  const args: ReconcileOperationInput = { operationId: operation.id, platform: operation.platform, activityTimeoutMs: options.activityTimeoutMs };
  return put(tx, operation, {
    intent: 'start',
    workflow: WORKFLOWS.reconcileOperation,
    workflowId: workflowIds.reconcileOperation(operation.id),
    args,
    summary: `find out what happened to ${operation.id} on ${operation.platform}`,
    searchAttributes: { OrganizationId: operation.organizationId, OperationId: operation.id, Platform: [operation.platform], OutcomeUnknown: true, ...(operation.postId === null || operation.postId === undefined ? {} : { PostId: operation.postId }) },
    priority: PRIORITY.now,
    startAt: null,
    availableAt: options.now,
  }, options.now);
}

/** Tells the reconciling workflow to look at the row again. */
export async function wakeReconcile(tx: Tx, operation: Operation, now: Date): Promise<OutboxRow> {
  return put(tx, operation, { intent: 'wake', workflow: WORKFLOWS.reconcileOperation, workflowId: workflowIds.reconcileOperation(operation.id), args: null, summary: '', searchAttributes: {}, priority: PRIORITY.now, startAt: null, availableAt: now }, now);
}

/** Part of the transaction that begins the work: Temporal evidently knows of it. */
export async function forgetStart(tx: Tx, workflowId: string): Promise<void> {
  const { sql, params } = startForgotten(workflowId);
  await tx.execute(sql, params);
}

/** The same, to be written together with other things. */
export function startForgotten(workflowId: string): Statement {
  return { sql: 'delete from outbox where id = ?', params: [`start:${workflowId}`] };
}
