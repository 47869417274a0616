import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { isId } from '../../../infra/contract/ids.ts';
import { json } from '../reply.ts';
import { ledgerConditions, placeholder, readFilters, wantsRequests, type Filters } from './filters.ts';
import { fault, type AdminHandler } from './admin-call.ts';
import type { Sandbox } from '../sandbox.ts';

type Row = Record<string, any>;

/** Kinds whose entry is an object of its own. */
const MAKING = `('publish', 'comment', 'repost', 'quote', 'message', 'broadcast')`;
const OPERATIONS_MAX = 10_000;

const COLUMNS = `id, epoch, ordinal::int8::text as ordinal, at, platform, account_id, kind, object_id, platform_post_id, parent_id, url, text, media, recipient,
  operation_id, step, attempt, key, answered, word, double, request`;

function entryView(row: Row): Row {
  return { ...row, ordinal: Number(row.ordinal), at: (row.at as Date).toISOString() };
}

/** Oldest first, without `request` rows unless they are asked for. */
export const ledgerPage: AdminHandler = async ({ sandbox, query }) => {
  const filters = await readFilters(sandbox, query);
  if ('status' in filters) return filters;
  const wrong = ledgerConditions(filters, query);
  if (wrong !== null) return wrong;
  if (!wantsRequests(query)) filters.where.push(`kind <> 'request'`);
  if (filters.after !== null) {
    if (!/^[0-9]{1,15}$/.test(filters.after)) return fault(400, 'after must be an ordinal');
    filters.where.push(`ordinal > ${placeholder(filters.values, filters.after)}`);
  }
  const { rows } = await sandbox.pool.query<Row>({
    text: `select ${COLUMNS} from sandbox.ledger where ${filters.where.join(' and ')} order by sandbox.ledger.ordinal limit ${placeholder(filters.values, filters.limit + 1)}`,
    values: filters.values,
  });
  const entries = rows.slice(0, filters.limit).map(entryView);
  return json(200, { epoch: filters.epoch, entries, next: rows.length > filters.limit ? entries.at(-1)!.ordinal : null });
};

export const ledgerEntry: AdminHandler = async ({ sandbox, params, query }) => {
  const organizationId = query.get('organization_id');
  if (!isId('organization', organizationId)) return fault(400, 'organization_id is missing or malformed');
  const { rows } = await sandbox.pool.query<Row>({ text: `select ${COLUMNS} from sandbox.ledger where id = $1 and organization_id = $2`, values: [params[0], organizationId] });
  return rows[0] === undefined ? fault(404, 'no such entry') : json(200, entryView(rows[0]));
};

/** Counts under the same filters. `include=operation_ids` also names the operations that made something, so that targets can be counted. */
export const ledgerSummary: AdminHandler = async ({ sandbox, query }) => {
  const filters = await readFilters(sandbox, query);
  if ('status' in filters) return filters;
  const wrong = ledgerConditions(filters, query);
  if (wrong !== null) return wrong;
  const { rows } = await sandbox.pool.query<Row>({
    text: `select platform, count(*) filter (where kind <> 'request') as entries, count(distinct object_id) filter (where kind in ${MAKING}) as objects,
        count(distinct operation_id) filter (where kind in ${MAKING}) as operations, count(*) filter (where double) as doubles,
        count(*) filter (where kind = 'request') as requests, min(at) filter (where kind <> 'request') as oldest, max(at) filter (where kind <> 'request') as newest
      from sandbox.ledger where ${filters.where.join(' and ')} group by grouping sets ((), (platform))`,
    values: filters.values,
  });
  const total = rows.find((row) => row.platform === null)!;
  const byPlatform = new Map(rows.map((row) => [row.platform, row]));
  return json(200, {
    epoch: filters.epoch, entries: Number(total.entries), objects: Number(total.objects), operations: Number(total.operations), doubles: Number(total.doubles),
    requests: Number(total.requests), oldest_at: total.oldest?.toISOString() ?? null, newest_at: total.newest?.toISOString() ?? null,
    by_platform: Object.fromEntries(PLATFORMS.map((platform) => [platform, {
      objects: Number(byPlatform.get(platform)?.objects ?? 0), doubles: Number(byPlatform.get(platform)?.doubles ?? 0),
    }])),
    ...(query.get('include') === 'operation_ids' ? { operation_ids: await operationsOf(sandbox, filters) } : {}),
  });
};

async function operationsOf(sandbox: Sandbox, filters: Filters): Promise<string[]> {
  const { rows } = await sandbox.pool.query<{ operation_id: string }>({
    text: `select distinct operation_id from sandbox.ledger where ${filters.where.join(' and ')} and kind in ${MAKING} and operation_id is not null limit ${OPERATIONS_MAX}`,
    values: filters.values,
  });
  return rows.map((row) => row.operation_id);
}
