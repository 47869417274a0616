import { SUMMARY_COUNT_MAX } from '../../../infra/contract/limits.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { OPERATION_STATUSES } from '../../../infra/contract/statuses.ts';
import { countOperations, listOperations, OPERATION_COLUMNS } from '../../../infra/db/repositories/operations.ts';
import { instant } from '../../../infra/wire/post-target.ts';
import { allOf, pageReply, windowClause, type Clause } from '../../page.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace, visibleWorkspaces } from '../../workspace-access.ts';
import { oldestFirst } from './oldest-first.ts';
import { showOperations } from './show.ts';

const { id, createdAt, unknownSince } = OPERATION_COLUMNS;

/** GET /v1/operations */
export async function list(call: Call): Promise<Reply> {
  const { query, tx, infra } = call;
  const filter = await filterOf(call);
  const byUnknown = query.sort === 'oldest' && isAboutUnknown(query);
  const { order, ...window } = query.sort === 'oldest'
    ? oldestFirst(call.window!, { time: byUnknown ? unknownSince : createdAt, id, listTime: createdAt })
    : windowClause(call.window!, { time: createdAt, id });
  return pageReply(call, {
    rows: await listOperations(tx, { ...allOf([filter, window]), order }),
    position: (operation) => ({ at: byUnknown ? operation.unknownSince! : operation.createdAt, id: operation.id }),
    present: (operations) => showOperations(tx, operations, { uiUrl: infra.config.temporal.uiUrl, steps: query.include?.includes('steps') === true }),
  });
}

/** GET /v1/operations/summary: counts are exact up to a maximum, and say so above it. */
export async function summary(call: Call): Promise<Reply> {
  const { from, to } = call.query;
  const range = [...(from === undefined ? [] : [{ sql: `${createdAt} >= ?`, params: [from] }]), ...(to === undefined ? [] : [{ sql: `${createdAt} <= ?`, params: [to] }])];
  const counts = await countOperations(call.tx, allOf([await filterOf(call), ...range]));
  const total = [...counts.byStatus.values()].reduce((sum, one) => sum + one, 0);
  const capped = (count: number | undefined) => Math.min(count ?? 0, SUMMARY_COUNT_MAX);
  return {
    status: 200,
    body: {
      data: {
        total: capped(total),
        by_status: Object.fromEntries(OPERATION_STATUSES.map((status) => [status, capped(counts.byStatus.get(status))])),
        unknown: {
          count: capped(counts.byStatus.get('unknown')),
          oldest_since: instant(counts.oldestUnknownSince),
          by_platform: Object.fromEntries(PLATFORMS.map((platform) => [platform, capped(counts.unknownByPlatform.get(platform))])),
        },
        truncated: total > SUMMARY_COUNT_MAX,
      },
    },
  };
}

async function filterOf(call: Call): Promise<Clause> {
  const { query, caller } = call;
  if (query.workspace_id !== undefined) await assertNamedWorkspace(call, query.workspace_id, 'read');
  const columns = OPERATION_COLUMNS;
  return allOf([
    visibleWorkspaces(caller, columns.workspaceId),
    ...oneOf(columns.status, query.status), ...oneOf(columns.kind, query.kind), ...oneOf(columns.platform, query.platform),
    ...equal(columns.accountId, query.account_id), ...equal(columns.workspaceId, query.workspace_id), ...equal(columns.postId, query.post_id),
    ...equal(columns.targetId, query.target_id), ...equal(columns.subjectId, query.subject_id), ...equal(columns.settledBy, query.settled_by), ...equal(columns.probing, query.probing),
    ...olderThan(call),
  ]);
}

function isAboutUnknown(query: Call['query']): boolean {
  return query.status?.length === 1 && query.status[0] === 'unknown';
}

function oneOf(column: string, values: readonly string[] | undefined): Clause[] {
  return values === undefined || values.length === 0 ? [] : [{ sql: `${column} in (?)`, params: [values] }];
}

function equal(column: string, value: string | undefined): Clause[] {
  return value === undefined ? [] : [{ sql: `${column} = ?`, params: [value] }];
}

function olderThan({ query, now }: Call): Clause[] {
  const age = query.older_than as Date | { ms: number } | undefined;
  if (age === undefined) return [];
  const before = age instanceof Date ? age : new Date(now.getTime() - age.ms);
  return [{ sql: `${isAboutUnknown(query) ? unknownSince : createdAt} < ?`, params: [before] }];
}
