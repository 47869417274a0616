import type { Account } from '../../accounts.ts';
import { json, type Reply } from '../../reply.ts';
import type { StoredObject } from '../../store/objects.ts';
import type { Call } from '../platform.ts';
import { presentAccount, presentStatus } from './present.ts';
import { notFound, replies } from './replies.ts';
import { asShown } from './statuses.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 40;

/** GET /api/v1/accounts/verify_credentials */
export function verifyCredentials(call: Call): Reply {
  const { account } = call;
  return json(200, {
    ...presentAccount(account, call.sandbox.settings.baseUrl),
    source: { privacy: 'public', sensitive: false, language: null, note: '', fields: [], follow_requests_count: 0 }, role: { id: '-99', name: '', permissions: '65536', color: '', highlighted: false },
  });
}

/** GET /api/v1/accounts/:id */
export async function lookUpAccount(call: Call): Promise<Reply> {
  const account = await call.sandbox.accounts.neighbour(call.account, call.params.id!);
  return account === null ? notFound() : json(200, presentAccount(account, call.sandbox.settings.baseUrl));
}

async function visible(call: Call): Promise<StoredObject | Reply> {
  const status = await call.sandbox.objects.find('mastodon', call.account.organizationId, call.params.id!);
  if (status === null) return notFound();
  if (status.hidden) return replies.unavailable();
  const own = status.accountId === call.account.id;
  return own || !['private', 'direct'].includes(status.detail.visibility) ? status : notFound();
}

async function authorOf(call: Call, status: StoredObject): Promise<Account> {
  return status.accountId === call.account.id ? call.account : await call.sandbox.accounts.byId(status.accountId) ?? call.account;
}

/** GET /api/v1/statuses/:id */
export async function readStatusById(call: Call): Promise<Reply> {
  const status = await visible(call);
  if ('status' in status) return status;
  return json(200, presentStatus(asShown(status), await authorOf(call, status), call.sandbox.settings.baseUrl));
}

/** GET /api/v1/statuses/:id/source */
export async function readSource(call: Call): Promise<Reply> {
  const status = await visible(call);
  if ('status' in status) return status;
  if (status.accountId !== call.account.id) return notFound();
  return json(200, { id: status.objectId, text: status.text ?? '', spoiler_text: status.detail.spoiler_text ?? '' });
}

/** GET /api/v1/accounts/:id/statuses */
export async function accountStatuses(call: Call): Promise<Reply> {
  const author = await call.sandbox.accounts.neighbour(call.account, call.params.id!);
  if (author === null) return notFound();
  const { query } = call;
  const id = (name: string): string | undefined => (/^[0-9]{1,18}$/.test(query.get(name) ?? '') ? query.get(name)! : undefined);
  const limit = Math.min(LIMIT_MAX, Math.max(1, Number.parseInt(query.get('limit') ?? '', 10) || LIMIT_DEFAULT));
  const statuses = await call.sandbox.objects.list(author.id, {
    limit, above: id('min_id') ?? id('since_id'), below: id('max_id'), oldestFirst: id('min_id') !== undefined, withoutReplies: query.get('exclude_replies') === 'true',
  });
  if (statuses === null) return replies.unavailable();
  const own = author.id === call.account.id;
  const shown = statuses.filter((status) => own || !['private', 'direct'].includes(status.detail.visibility))
    .filter((status) => query.get('only_media') !== 'true' || status.media.length > 0);
  const reply = json(200, shown.map((status) => presentStatus(asShown(status), author, call.sandbox.settings.baseUrl)));
  return statuses.length === 0 ? reply : { ...reply, headers: { ...reply.headers, link: linkHeader(call, statuses, limit) } };
}

/** Next and previous page, with addresses of this server. */
function linkHeader(call: Call, statuses: StoredObject[], limit: number): string {
  const at = (name: string, id: string): string => `<${call.sandbox.settings.url}/mastodon/instance${call.path}?limit=${limit}&${name}=${id}>`;
  return `${at('max_id', statuses.at(-1)!.objectId)}; rel="next", ${at('min_id', statuses[0]!.objectId)}; rel="prev"`;
}

/** GET /api/v2/search: the address of a status becomes its id */
export async function search(call: Call): Promise<Reply> {
  const asked = call.query.get('q') ?? '';
  const type = call.query.get('type');
  const pageId = /\/sandbox\/p\/mastodon\/([0-9a-f]{32})\/?$/.exec(asked)?.[1];
  const found = pageId === undefined ? null : await call.sandbox.objects.byPage('mastodon', pageId);
  if (found?.hidden === true) return replies.unavailable();
  const usable = found !== null && found.organizationId === call.account.organizationId && (type === null || type === 'statuses');
  const statuses = usable ? [presentStatus(asShown(found), await authorOf(call, found), call.sandbox.settings.baseUrl)] : [];
  return json(200, { accounts: [], statuses, hashtags: [] });
}
