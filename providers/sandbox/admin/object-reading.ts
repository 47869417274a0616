import { json } from '../reply.ts';
import { placeholder, readFilters } from './filters.ts';
import { fault, type AdminHandler } from './admin-call.ts';

type Row = Record<string, any>;

const CURSOR = /^(\d{1,16})\.([a-z]{1,20})\.(.{1,200})$/;

/** What is public now, oldest first; with `state=all` what is no longer public too. */
export const objectsPage: AdminHandler = async ({ sandbox, query }) => {
  const filters = await readFilters(sandbox, query);
  if ('status' in filters) return filters;
  const { where, values } = filters;
  where.push(query.get('state') === 'all' ? `state <> 'absent'` : `state = 'public' and (vanish_at is null or vanish_at > now())`);
  const operations = query.get('operation_id')?.split(',');
  if (operations !== undefined) where.push(`object_id in (select l.object_id from sandbox.ledger l where l.organization_id = $1 and l.operation_id = any(${placeholder(values, operations)}))`);
  if (filters.after !== null) {
    const cursor = CURSOR.exec(filters.after);
    if (cursor === null) return fault(400, 'after is not a cursor of this list');
    where.push(`(made_ms, platform, object_id) > (${placeholder(values, cursor[1])}, ${placeholder(values, cursor[2])}, ${placeholder(values, cursor[3])})`);
  }
  const { rows } = await sandbox.pool.query<Row>({
    text: `select object_id, platform, account_id, kind, url, text, media, parent_id, state, hidden, created_at, made_ms::text as made_ms
      from (select *, (extract(epoch from created_at) * 1000)::int8 as made_ms from sandbox.object) made
      where ${where.join(' and ')} order by made.made_ms, platform, object_id limit ${placeholder(values, filters.limit + 1)}`,
    values,
  });
  const shown = rows.slice(0, filters.limit);
  const last = shown.at(-1);
  return json(200, {
    objects: shown.map(objectView),
    next: rows.length > filters.limit && last !== undefined ? `${last.made_ms}.${last.platform}.${last.object_id}` : null,
  });
};

/** What the public page of an object shows. Removed, rejected and unknown ones are all 404. */
export const publicPage: AdminHandler = async ({ sandbox, params }) => {
  const object = await sandbox.objects.byPage(params[0]!, params[1]!);
  if (object === null) return fault(404, 'no such page');
  const account = await sandbox.accounts.byId(object.accountId);
  return json(200, {
    platform: object.platform, object_id: object.objectId, kind: object.kind, url: object.url, text: object.text, media: object.media, parent_id: object.parentId,
    detail: object.detail, created_at: object.createdAt.toISOString(),
    account: { username: account?.username ?? null, display_name: account?.displayName ?? null },
  });
};

function objectView(row: Row): Row {
  return {
    object_id: row.object_id, platform: row.platform, account_id: row.account_id, kind: row.kind, url: row.url, text: row.text, media: row.media,
    parent_id: row.parent_id, state: row.state, hidden: row.hidden, created_at: (row.created_at as Date).toISOString(),
  };
}
