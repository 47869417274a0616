import { listPostTimeline, type PostTimelineRow } from '../../../infra/db/repositories/post-timeline.ts';
import { instant } from '../../../infra/wire/post-target.ts';
import { allOf, pageReply, type Clause } from '../../page.ts';
import { findPostRow } from '../../../infra/db/repositories/posts.ts';
import type { Call, Caller, Reply } from '../../route.ts';
import { mayAccess } from '../../workspace-access.ts';
import { oldestFirst } from '../operations/oldest-first.ts';
import { assertReadablePost } from './access.ts';

/** GET /v1/posts/{id}/timeline: oldest first, readable for a while after a deletion too. */
export async function listTimeline(call: Call): Promise<Reply> {
  const post = await findPostRow(call.tx, call.params.id!);
  assertReadablePost(post, call);
  const { order, ...window } = oldestFirst(call.window!, { time: 't.at', id: 't.id' });
  const rows = await listPostTimeline(call.tx, post.id, { ...allOf([...filters(call.query), window]), order });
  return pageReply(call, { rows, position: ({ entry }) => ({ at: entry.at, id: entry.id }), present: (page) => page.map((row) => presentPostEntry(row, call.caller)) });
}

function filters(query: Call['query']): Clause[] {
  return [
    ...(query.target_id === undefined ? [] : [{ sql: 't.target_id = ?', params: [query.target_id] }]),
    // What an operation calls its entries is not a kind of the post, though some have the same name.
    ...(query.kind === undefined ? [] : [{ sql: `(case when t.operation_id is null then t.type else 'operation' end) in (?)`, params: [query.kind] }]),
  ];
}

export function presentPostEntry({ entry, accountId }: PostTimelineRow, caller: Caller): Record<string, unknown> {
  const isOfOperation = entry.operationId !== null && entry.operationId !== undefined;
  return {
    id: entry.id,
    at: instant(entry.at),
    kind: isOfOperation ? 'operation' : entry.type,
    message: entry.message,
    post_id: entry.postId,
    target_id: entry.targetId ?? null,
    account_id: accountId,
    operation_id: entry.operationId ?? null,
    event_id: entry.eventId ?? null,
    delivery_id: entry.data.delivery_id ?? null,
    evidence_id: entry.evidenceId ?? null,
    verdict_id: entry.verdictId ?? null,
    actor: entry.actor ? { type: entry.actor.type, id: entry.actor.id } : null,
    request_id: entry.requestId ?? null,
    data: isOfOperation ? ofOperation(entry) : ofPost(entry, caller),
  };
}

/** Source and copy may lie apart: the other one is named only to who may see it. */
function ofPost({ type, data }: PostTimelineRow['entry'], caller: Caller): Record<string, unknown> {
  if (type !== 'duplicated') return data;
  const { workspace_id, ...other } = data;
  return mayAccess(caller, (workspace_id as string | null | undefined) ?? null) ? other : {};
}

/** As the operation's own timeline tells it, in the one place that an entry of a post has for it. */
function ofOperation({ type, step, attempt, data }: PostTimelineRow['entry']): Record<string, unknown> {
  return { ...data, type, ...(step ? { step } : {}), ...(attempt === null || attempt === undefined ? {} : { attempt }) };
}
