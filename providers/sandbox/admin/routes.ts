import { timingSafeEqual, createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJson, readBody } from '../body.ts';
import { json, sendReply } from '../reply.ts';
import { PLAYED } from '../platforms/index.ts';
import type { PlayedPlatform } from '../platforms/platform.ts';
import type { Sandbox } from '../sandbox.ts';
import { playedPlatforms } from './platforms-reading.ts';
import { WORDS, type WordRule } from '../words.ts';
import { fault, type AdminHandler } from './admin-call.ts';
import { deleteAccount, patchAccount, putAccount, readAccount } from './accounts.ts';
import { ledgerEntry, ledgerPage, ledgerSummary } from './ledger-reading.ts';
import { objectsPage, publicPage } from './object-reading.ts';
import { resetAccounts } from './reset.ts';

/*
 * The administration, for the API of the service alone. Every request carries `Authorization: Bearer <SANDBOX_SECRET>`; without it: 404,
 * as if nothing were here. Bodies and answers are JSON, faults are `{error}` with 400 (malformed) or 404 (unknown).
 *
 *   PUT    /admin/accounts/{acc_…}           {organization_id, platform, platform_account_id, username, display_name?, behaviour?,
 *                                             access_token_sha256, refresh_token_sha256?, generation}        → 200 Account (made or replaced)
 *   GET    /admin/accounts/{acc_…}                                                                           → 200 Account
 *   PATCH  /admin/accounts/{acc_…}           {behaviour}                                                     → 200 Account
 *   DELETE /admin/accounts/{acc_…}                                                                           → 204; its objects and entries stay
 *   GET    /admin/ledger                     ?organization_id & filters & after=<ordinal> & limit            → 200 {epoch, entries: Entry[], next: ordinal|null}
 *   GET    /admin/ledger/summary             ?organization_id & filters                                      → 200 Summary
 *   GET    /admin/ledger/{sbx_…}             ?organization_id                                                → 200 Entry
 *   GET    /admin/objects                    ?organization_id & filters & after=<cursor> & limit             → 200 {objects: Object[], next: cursor|null}
 *   POST   /admin/reset                      {organization_id, account_ids?}                                 → 200 {epoch, accounts}
 *   GET    /admin/platforms                                                                                  → 200 {data: [{platform, metadata, scopes, refreshable}]}
 *   GET    /admin/words                                                                                      → 200 {words: [{name, group, argument, description}]}
 *   GET    /admin/platforms                                                                                  → 200 {data: [{platform, metadata, scopes, refreshable}]}
 *   GET    /admin/pages/{platform}/{page id or object id}                                                    → 200 Page
 *
 * Filters: account_id, platform, operation_id, kind, object_id (comma lists), text (substring), epoch (number or `all`, default the
 * current one), include=requests. The page id of an object is its id on platforms
 * whose answers hold no address, else the first 32 hex digits of HMAC-SHA-256(SANDBOX_SECRET, "page:{platform}:{object id}").
 */
const ROUTES: readonly (readonly [string, RegExp, AdminHandler])[] = [
  ['PUT', /^\/admin\/accounts\/(acc_[0-9a-f]{32})$/, putAccount],
  ['GET', /^\/admin\/accounts\/(acc_[0-9a-f]{32})$/, readAccount],
  ['PATCH', /^\/admin\/accounts\/(acc_[0-9a-f]{32})$/, patchAccount],
  ['DELETE', /^\/admin\/accounts\/(acc_[0-9a-f]{32})$/, deleteAccount],
  ['GET', /^\/admin\/ledger$/, ledgerPage],
  ['GET', /^\/admin\/ledger\/summary$/, ledgerSummary],
  ['GET', /^\/admin\/ledger\/(sbx_[0-9a-f]{32})$/, ledgerEntry],
  ['GET', /^\/admin\/objects$/, objectsPage],
  ['POST', /^\/admin\/reset$/, resetAccounts],
  ['GET', /^\/admin\/platforms$/, ({ sandbox }) => json(200, { data: [...PLAYED.values()].map((platform) => platformView(platform, sandbox.settings.url)) })],
  ['GET', /^\/admin\/words$/, () => json(200, { words: WORDS.map(wordView) })],
  ['GET', /^\/admin\/platforms$/, playedPlatforms],
  ['GET', /^\/admin\/pages\/([a-z]{1,20})\/([A-Za-z0-9._:-]{1,200})$/, publicPage],
];

export async function serveAdmin(sandbox: Sandbox, { request, response, url }: { request: IncomingMessage; response: ServerResponse; url: URL }): Promise<void> {
  if (!isAllowed(request.headers.authorization, sandbox.settings.secret)) {
    request.resume();
    return sendReply(response, fault(404, 'not found'));
  }
  const body = await readBody(request, async () => false);
  for (const [method, pattern, handle] of ROUTES) {
    const match = method === request.method ? pattern.exec(url.pathname) : null;
    if (match !== null) return sendReply(response, await handle({ sandbox, params: match.slice(1), query: url.searchParams, body: parseJson(body) }));
  }
  sendReply(response, fault(404, 'not found'));
}

/** Digests have one length, so the comparison takes one time. */
function isAllowed(header: string | undefined, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${secret}`));
}

/** What an account of a played platform is made with. */
function platformView({ name, accessTokenSeconds, connection }: PlayedPlatform, url: string): Record<string, unknown> {
  return { platform: name, scopes: connection.scopes, metadata: connection.metadata(`${url}/${name}`), refreshable: accessTokenSeconds !== null };
}

function wordView({ name, group, argument, description }: WordRule): Record<string, unknown> {
  return { name, group, argument, description };
}
