import { ApiError } from '../../../infra/contract/errors.ts';
import { isId } from '../../../infra/contract/ids.ts';
import { VERDICT_REASON_MAX_CHARS } from '../../../infra/contract/limits.ts';
import { findOperation } from '../../../infra/db/repositories/operations.ts';
import type { Call, Reply } from '../../route.ts';
import { assertWorkspaceAccess } from '../../workspace-access.ts';
import { showOperation } from './show.ts';
import { decide } from './verdict.ts';
import { readNamedObject } from './verdict-ids.ts';

const DEFAULT_REASON = 'Reconciled by API';

/** POST /v1/posts/{id}/targets/{target_id}/reconcile: a verdict on the target's newest publish operation, in the words of existing clients. */
export async function reconcileTarget(call: Call): Promise<Reply> {
  const { tx, body, params } = call;
  const newest = await newestOperation(call, params.id!, params.target_id!);
  const operation = newest === body.publish_operation_id && isId('operation', newest) ? await findOperation(tx, newest) : null;
  if (operation === null) {
    throw new ApiError('VERDICT_CONFLICT', "publish_operation_id is not the target's newest publish operation. Read the post and decide on what it says now.", { details: { operation_id: newest } });
  }
  const happened = body.outcome === 'succeeded';
  const named = await readNamedObject(call, operation, { happened, platformPostId: body.provider_post_id ?? null, url: body.provider_url ?? null, fields: { id: 'provider_post_id', url: 'provider_url' } });
  const reason = [...((body.error_message as string | undefined)?.trim() || DEFAULT_REASON)].slice(0, VERDICT_REASON_MAX_CHARS).join('');
  const decided = await decide(call, operation, { ...named, happened, reason, expectedRevision: null, supersedes: null });
  const shown = await showOperation(tx, decided, call.infra);
  return {
    status: 200,
    body: {
      post_id: params.id, target_id: params.target_id, publish_operation_id: decided.id, outcome: body.outcome, post_status: await postStatus(call, params.id!), thread_status: null, operation: shown,
    },
    workspaceIds: [decided.workspaceId ?? null],
  };
}

/** A replay shows the operation as it is now. */
export async function replayReconciled(stored: unknown, call: Call): Promise<unknown> {
  const kept = stored as { publish_operation_id: string };
  const operation = await findOperation(call.tx, kept.publish_operation_id);
  return operation === null ? stored : { ...kept, operation: await showOperation(call.tx, operation, call.infra) };
}

/** Read without entities: the ledger reads post and target itself, under their lock. */
async function newestOperation(call: Call, postId: string, targetId: string): Promise<string | null> {
  const { tx, caller } = call;
  const [post] = await tx.execute<{ workspace_id: string | null }[]>('select workspace_id from post where id = ? and deleted_at is null', [postId]);
  if (post === undefined) throw new ApiError('POST_NOT_FOUND', 'There is no post with this id. It was deleted, belongs to the other mode, or never was.', { details: { resource: 'post' } });
  assertWorkspaceAccess(caller, post.workspace_id);
  const [target] = await tx.execute<{ id: string }[]>('select id from target where id = ? and post_id = ?', [targetId, postId]);
  if (target === undefined) throw new ApiError('TARGET_NOT_FOUND', 'This post has no target with this id. Read the post for its targets.', { details: { resource: 'target' } });
  const [newest] = await tx.execute<{ id: string }[]>(`select id from operation where subject_id = ? and kind = 'publish' order by attempt desc, id desc limit 1`, [targetId]);
  return newest?.id ?? null;
}

async function postStatus({ tx }: Call, postId: string): Promise<string> {
  const [post] = await tx.execute<{ status: string }[]>('select status from post where id = ?', [postId]);
  return post!.status;
}
