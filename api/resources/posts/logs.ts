import { ApiError } from '../../../infra/contract/errors.ts';
import { isId } from '../../../infra/contract/ids.ts';
import { DELETED_POST_READABLE_MS } from '../../../infra/contract/limits.ts';
import { logRow, logRows, type LogRow } from '../../../infra/db/repositories/target-log.ts';
import { instant } from '../../../infra/wire/post-target.ts';
import { allOf, pageReply, type Clause } from '../../page.ts';
import { findPostRow } from '../../../infra/db/repositories/posts.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace, assertWorkspaceAccess, visibleWorkspaces } from '../../workspace-access.ts';
import { assertReadablePost } from './access.ts';

/** GET /v1/posts/logs. */
export async function listLogs(call: Call): Promise<Reply> {
  const { query } = call;
  if (query.workspace_id !== undefined) await assertNamedWorkspace(call, query.workspace_id, 'read');
  return logPage(call, [
    ...(query.post_id === undefined ? [] : [{ sql: 'target.post_id = ?', params: [query.post_id] }]),
    ...(query.workspace_id === undefined ? [] : [{ sql: 'post.workspace_id = ?', params: [query.workspace_id] }]),
  ]);
}

/** GET /v1/posts/{id}/logs: readable for a while after a deletion too. */
export async function listPostLogs(call: Call): Promise<Reply> {
  const post = await findPostRow(call.tx, call.params.id!);
  assertReadablePost(post, call);
  return logPage(call, [{ sql: 'target.post_id = ?', params: [post.id] }]);
}

/** GET /v1/posts/logs/{target_id}. */
export async function getLog(call: Call): Promise<Reply> {
  const id = call.params.target_id!;
  const row = isId('target', id) ? await logRow(call.tx, id) : null;
  if (row === null || (row.deletedAt !== null && row.deletedAt < forgottenBefore(call))) throw new ApiError('NOT_FOUND', 'There is no log entry with this target id.', { details: { resource: 'publishing_log' } });
  assertWorkspaceAccess(call.caller, row.workspaceId);
  return { status: 200, body: presentLog(row), workspaceIds: [row.workspaceId] };
}

async function logPage(call: Call, own: Clause[]): Promise<Reply> {
  const { tx, caller, query } = call;
  const { limit, after, from, to } = call.window!;
  // The first page's time is the ceiling of the whole listing: who changes later keeps its place in it.
  const ceiling = after?.ceiling ?? call.now;
  const where = allOf([visibleWorkspaces(caller, 'post.workspace_id'), { sql: 'post.deleted_at is null or post.deleted_at >= ?', params: [forgottenBefore(call)] }, ...own, ...filters(query)]);
  const rows = await logRows(tx, { where, limit, after, from, to, ceiling });
  return pageReply(call, { rows, position: (row) => ({ at: row.listedAt, id: row.id, ceiling }), present: (page) => page.map(presentLog) });
}

/** Posts deleted before are no longer shown. */
function forgottenBefore({ now }: Call): Date {
  return new Date(now.getTime() - DELETED_POST_READABLE_MS);
}

function filters(query: Call['query']): Clause[] {
  const equal = (column: string, value: unknown): Clause[] => (value === undefined ? [] : [{ sql: `${column} = ?`, params: [value] }]);
  const among = (column: string, values: unknown): Clause[] => (values === undefined ? [] : [{ sql: `${column} in (?)`, params: [values] }]);
  return [
    ...equal('target.account_id', query.account_id),
    ...among('target.platform', query.platform),
    ...among('target.status', query.status),
    ...equal(`target.error ->> 'code'`, query.error_code),
    ...(query.include_drafts === true ? [] : [{ sql: `target.status <> 'draft'`, params: [] }]),
  ];
}

function presentLog(row: LogRow): Record<string, unknown> {
  return {
    id: row.id,
    post_id: row.postId,
    social_account_id: row.accountId,
    platform: row.platform,
    status: row.status,
    platform_post_id: row.platformPostId,
    platform_url: row.url,
    error: row.error?.message ?? null,
    published_at: instant(row.publishedAt),
    updated_at: instant(row.updatedAt),
    error_code: row.error?.code ?? null,
    operation_id: row.operationId,
    attempt: row.attempt,
    workspace_id: row.workspaceId,
    deleted: row.deletedAt !== null,
  };
}
