import { expect, test } from '@jest/globals';
import { platformCatalog } from '../../providers/catalog.ts';
import { liveEndpoints } from '../../providers/endpoints.ts';
import { factsOf, isGenuine } from '../../providers/mastodon/facts.ts';
import { mastodon } from '../../providers/mastodon/index.ts';
import { statusBody } from '../../providers/mastodon/publish.ts';
import type { PlannedStep, PublishWork } from '../../providers/provider.ts';
import { accountOf, fileOf, HTML, NOW, ScriptedHttp, workOf, type Script } from './scripted.ts';

const metadata = { instance_url: 'https://social.example', idempotency: true };
const endpoints = liveEndpoints('mastodon', metadata);
const catalog = platformCatalog('mastodon')!;
const account = accountOf({ platformAccountId: '42@social.example', metadata });
const work = (more: Partial<PublishWork> = {}) => workOf({ account, endpoints, options: catalog.normalizeOptions({}), ...more });
const step = (name: string): PlannedStep => ({ name, effect: 'private', required: true });
const names = (given: PublishWork) => mastodon.plan(given).map((one) => one.name);
const error = (status: number, message: string, headers?: Record<string, string>): Script => ({ status, json: { error: message }, headers });

test('with fresh facts a text post is one keyed step', () => {
  expect(mastodon.plan(work())).toMatchObject([{ name: 'publish', effect: 'public_keyed', key: { value: 'op_1', windowMs: 3_000_000 } }]);
});

test('stale or missing facts are read first, addresses are looked up, files are uploaded', () => {
  expect(names(work({ account: { ...account, factsAt: null } }))).toEqual(['instance', 'publish']);
  expect(names(work({ account: { ...account, factsAt: new Date(NOW.getTime() - 86_400_001) } }))).toEqual(['instance', 'publish']);
  const options = catalog.normalizeOptions({ reply_to: 'https://other.example/@b/1', quote_to: '77' });
  expect(names(work({ options, media: [fileOf()] }))).toEqual(['in_reply_to', 'media_1', 'media_1_ready', 'publish']);
});

test('servers that are not known to honour keys get an unkeyed plan; what this operation read counts first', () => {
  const effect = (given: PublishWork) => mastodon.plan(given).at(-1)?.effect;
  expect(effect(work({ account: { ...account, metadata: {} } }))).toBe('public_unkeyed');
  expect(effect(work({ account: { ...account, facts: { idempotency: false } } }))).toBe('public_unkeyed');
  expect(effect(work({ checkpoints: { instance: { idempotency: false } } }))).toBe('public_unkeyed');
  expect(effect(work({ account: { ...account, metadata: {} }, checkpoints: { instance: { idempotency: true } } }))).toBe('public_keyed');
});

test.each([['4.3.1', true], ['4.5.0-beta.1', true], ['4.4.0+glitch', true], ['3.5.3', false], ['0.17.0', false], ['4.2.1 (compatible; GoToSocial 0.16)', false], ['2.7.2 (compatible; Pleroma 2.5.1)', false], ['latest', false]])(
  'version %s honours keys: %s', (version, genuine) => {
    expect(isGenuine(version)).toBe(genuine);
  },
);

const INSTANCE = {
  version: '4.5.0', api_versions: { mastodon: 7 },
  configuration: { statuses: { max_characters: 1000, characters_reserved_per_url: 25, max_media_attachments: 6 }, media_attachments: { supported_mime_types: ['image/png'], image_size_limit: 1, video_size_limit: 2, description_limit: 3 }, polls: { max_options: 5, max_characters_per_option: 60, min_expiration: 300, max_expiration: 600 } },
};

test('the instance step yields facts', async () => {
  const answer = await mastodon.send(step('instance'), work(), new ScriptedHttp({ json: INSTANCE }));
  expect(answer).toMatchObject({ kind: 'done', checkpoint: { version: '4.5.0', idempotency: true }, facts: { max_characters: 1000, max_media_attachments: 6, quotes: true, mime_types: ['image/png'] } });
  const older = new ScriptedHttp(error(404, 'Not found'), { json: { version: '3.3.0 (compatible; Other)', max_toot_chars: 5000 } });
  expect(await mastodon.send(step('instance'), work(), older)).toMatchObject({ kind: 'done', checkpoint: { idempotency: false }, facts: { max_characters: 5000, quotes: false } });
  expect(older.requests.map((one) => one.url)).toEqual(['https://social.example/api/v2/instance', 'https://social.example/api/v1/instance']);
  expect(await mastodon.send(step('instance'), work(), new ScriptedHttp({ ...HTML }))).toMatchObject({ kind: 'unclear' });
  expect(factsOf(null)).toBeNull();
});

test('before a keyed repetition the instance is asked again', async () => {
  expect(await mastodon.stillKeyed?.(work(), new ScriptedHttp({ json: INSTANCE }))).toBe(true);
  for (const script of [{ json: { ...INSTANCE, version: '4.5.0 (compatible; Other)' } }, { status: 503, ...HTML }, { ...HTML }]) expect(await mastodon.stillKeyed?.(work(), new ScriptedHttp(script))).toBe(false);
});

const STATUS = { id: '99', url: 'https://social.example/@ada/99' };
test('200 with id and address is the proof, and the key is the operation', async () => {
  const http = new ScriptedHttp({ json: STATUS });
  expect(await mastodon.send({ ...step('publish'), key: { value: 'op_1', windowMs: 1 } }, work(), http)).toEqual({ kind: 'done', checkpoint: STATUS, providerId: '99', proof: { platformPostId: '99', url: STATUS.url } });
  expect(http.requests).toEqual([{ method: 'POST', url: 'https://social.example/api/v1/statuses', json: { status: 'Hello', visibility: 'public', sensitive: false }, headers: { 'idempotency-key': 'op_1', authorization: 'Bearer secret', accept: 'application/json' } }]);
});

const PUBLISH: [string, Script, Record<string, unknown>][] = [
  ['200 without an id', { json: { url: STATUS.url } }, { kind: 'unclear', missingProof: '200 with id and url' }],
  ['200 without an address', { json: { id: '99', url: null } }, { kind: 'unclear' }],
  ['200 with an address that is none', { json: { id: '99', url: 'javascript:1' } }, { kind: 'unclear' }],
  ['200 under another content type', { json: STATUS, contentType: 'text/html' }, { kind: 'unclear' }],
  ['202', { status: 202, json: STATUS }, { kind: 'unclear' }],
  ['200 with a page', { ...HTML }, { kind: 'unclear' }],
  ['a scheduled status', { json: { id: '1', scheduled_at: 'x' } }, { kind: 'unclear' }],
  ['a redirect', { status: 302 }, { kind: 'unclear' }],
  ['401', error(401, 'The access token is invalid'), { kind: 'expired', error: { code: 'TOKEN_REVOKED' } }],
  ['401 of a proxy', { status: 401, ...HTML }, { kind: 'unclear' }],
  ['403 scope', error(403, 'This action is outside the authorized scopes'), { kind: 'refused', error: { code: 'PERMISSION_MISSING' } }],
  ['403 suspended', error(403, 'Your login is currently suspended'), { kind: 'refused', error: { code: 'ACCOUNT_RESTRICTED' } }],
  ['403 limited', error(403, 'Your account is limited'), { kind: 'refused', error: { code: 'ACCOUNT_RESTRICTED' } }],
  ['403 of a proxy', { status: 403, ...HTML }, { kind: 'unclear' }],
  ['422 text limit', error(422, 'Validation failed: Text character limit of 500 exceeded'), { kind: 'refused', error: { code: 'CONTENT_TOO_LONG', platformCode: '422' } }],
  ['422 unfinished media', error(422, 'Cannot attach files that have not finished processing. Try again in a moment!'), { kind: 'wait', reason: 'processing' }],
  ['422 mixed media', error(422, 'Validation failed: Cannot attach a video to a post that already contains images'), { kind: 'refused', error: { code: 'MEDIA_REJECTED' } }],
  ['422 lost media', error(422, 'Validation failed: Media attachments 7 not found'), { kind: 'redo', steps: ['media_1'], error: { code: 'MEDIA_REJECTED' } }],
  ['422 other', error(422, 'Validation failed: Language is invalid'), { kind: 'refused', error: { code: 'CONTENT_REJECTED' } }],
  ['400 of another server', error(400, 'Bad Request: text too long'), { kind: 'refused', error: { code: 'CONTENT_TOO_LONG' } }],
  ['404 of a reply', error(404, 'Record not found'), { kind: 'refused', error: { code: 'OBJECT_NOT_FOUND' } }],
  ['410', error(410, 'Gone'), { kind: 'refused', error: { code: 'OBJECT_NOT_FOUND' } }],
  ['404 with a page', { status: 404, ...HTML }, { kind: 'unclear' }],
  ['429 with its reset', error(429, 'Too many requests', { 'x-ratelimit-reset': new Date(NOW.getTime() + 5_000).toISOString() }), { kind: 'wait', reason: 'rate_limited', afterMs: 5_000 }],
  ['429 of a proxy', { status: 429, ...HTML }, { kind: 'unclear' }],
  ...[408, 409, 425, 500, 502, 503, 504].map((status): [string, Script, Record<string, unknown>] => [`${status} even with an error body`, error(status, 'Something went wrong'), { kind: 'unclear', missingProof: null }]),
  ['503 with a page', { status: 503, ...HTML }, { kind: 'unclear' }],
];

test.each(PUBLISH)('publish answered by %s', async (_name, script, expected) => {
  const given = work({ media: [fileOf()], checkpoints: { media_1: { id: '7', ready: true } }, options: catalog.normalizeOptions({ reply_to: '5' }) });
  expect(await mastodon.send(step('publish'), given, new ScriptedHttp(script))).toMatchObject(expected);
});

test('a 404 that can mean no other status is no lost object', async () => {
  expect(await mastodon.send(step('publish'), work(), new ScriptedHttp(error(404, 'Not found')))).toMatchObject({ kind: 'refused', error: { code: 'PROVIDER_REJECTED' } });
});

test('the body carries what was asked for, and resolved ids', () => {
  const options = catalog.normalizeOptions({ reply_to: 'https://other.example/@b/1', quoted_status_id: '77', spoiler_text: 'cw', language: 'de', visibility: 'direct' });
  expect(statusBody(work({ options, media: [fileOf()], checkpoints: { media_1: { id: '7' }, in_reply_to: { id: '5' } } }))).toEqual({
    status: 'Hello', visibility: 'direct', sensitive: true, spoiler_text: 'cw', language: 'de', media_ids: ['7'], in_reply_to_id: '5', quoted_status_id: '77',
  });
});

test('an address is resolved by the instance', async () => {
  const given = work({ options: catalog.normalizeOptions({ reply_to: 'https://other.example/@b/1' }) });
  const http = new ScriptedHttp({ json: { statuses: [{ id: '5' }] } });
  expect(await mastodon.send(step('in_reply_to'), given, http)).toMatchObject({ kind: 'done', checkpoint: { id: '5' } });
  expect(http.requests[0]?.url).toBe('https://social.example/api/v2/search?q=https%3A%2F%2Fother.example%2F%40b%2F1&resolve=true&type=statuses&limit=1');
  expect(await mastodon.send(step('in_reply_to'), given, new ScriptedHttp({ json: { statuses: [] } }))).toMatchObject({ kind: 'refused', error: { code: 'OBJECT_NOT_FOUND' } });
  expect(await mastodon.send(step('in_reply_to'), given, new ScriptedHttp({ status: 500, ...HTML }))).toMatchObject({ kind: 'unclear' });
});

test('an upload carries description and focus', async () => {
  const http = new ScriptedHttp({ status: 202, json: { id: '7', url: null } });
  const given = work({ media: [fileOf({ altText: 'A cat' })], options: catalog.normalizeOptions({ focal_points: [{ x: 0.5, y: -1 }] }) });
  expect(await mastodon.send(step('media_1'), given, http)).toEqual({ kind: 'done', checkpoint: { id: '7', ready: false }, providerId: '7' });
  expect(http.requests[0]?.multipart?.map((part) => [part.name, part.filename])).toEqual([['file', 'media-1.png'], ['description', undefined], ['focus', undefined]]);
  expect(http.requests[0]?.multipart?.[2]?.content).toBe('0.5,-1');
  expect(await mastodon.send(step('media_1'), given, new ScriptedHttp(error(422, 'Validation failed: File content type is invalid')))).toMatchObject({ kind: 'refused', error: { code: 'MEDIA_REJECTED' } });
  expect(await mastodon.send(step('media_1'), given, new ScriptedHttp({ status: 200, json: {} }))).toMatchObject({ kind: 'unclear' });
});

test.each<[string, Script, Record<string, unknown>]>([
  ['200', { json: { id: '7' } }, { kind: 'done' }],
  ['206', { status: 206, json: { id: '7' } }, { kind: 'wait', reason: 'processing', afterMs: null }],
  ['404', error(404, 'Record not found'), { kind: 'redo', steps: ['media_1'] }],
  ['422 without a reason', error(422, 'There was a problem'), { kind: 'refused', error: { code: 'MEDIA_PROCESSING_FAILED' } }],
  ['422 with a rule', error(422, 'Video resolution not supported'), { kind: 'refused', error: { code: 'MEDIA_REJECTED' } }],
  ['503', { status: 503, ...HTML }, { kind: 'unclear' }],
])('a file that answers %s', async (_name, script, expected) => {
  const given = work({ media: [fileOf()], checkpoints: { media_1: { id: '7', ready: false } } });
  expect(await mastodon.send(step('media_1_ready'), given, new ScriptedHttp(script))).toMatchObject(expected);
});

const SINCE = new Date(NOW.getTime() - 30_000);
const status = (id: string, more: Record<string, unknown> = {}) => ({
  id, url: `https://social.example/@ada/${id}`, created_at: new Date(SINCE.getTime() + 1_000).toISOString(), visibility: 'public', in_reply_to_id: null, media_attachments: [], poll: null, content: '<p>Hello</p>', ...more,
});
const OLD = status('1', { created_at: '2026-11-20T00:00:00.000Z' });
const source = (text: string, spoiler = ''): Script => ({ json: { id: 'x', text, spoiler_text: spoiler } });
const look = (http: ScriptedHttp, more: Partial<PublishWork> = {}) => mastodon.reconcile(step('publish'), work(more), SINCE, http);

test('one status with the same source in the window is the proof', async () => {
  const http = new ScriptedHttp({ json: [status('9', { poll: {} }), status('8')] }, { json: [OLD] }, source('Hello'));
  const finding = await look(http);
  expect(finding).toMatchObject({ kind: 'found', proof: { platformPostId: '8', url: 'https://social.example/@ada/8' }, seen: [{ data: { complete: true, items_seen: 2, candidates: [{ platform_post_id: '8', conclusive: true, excerpt: 'Hello' }] } }] });
  expect(http.requests.map((one) => one.url.replace('https://social.example/api/v1', ''))).toEqual(['/accounts/42/statuses?limit=40&exclude_reblogs=true', '/accounts/42/statuses?limit=40&exclude_reblogs=true&max_id=8', '/statuses/8/source']);
});

const attached = (id: string) => ({ media_attachments: [{ id }] });
const withMedia = { media: [fileOf()], checkpoints: { media_1: { id: '7', ready: true } } };
test.each<[string, Script[], Partial<PublishWork>, string]>([
  ['no statuses at all', [{ json: [] }], {}, 'not_there'],
  ['older statuses only', [{ json: [OLD] }], {}, 'not_there'],
  ['another text', [{ json: [status('8'), OLD] }, source('Other')], {}, 'not_there'],
  ['another warning', [{ json: [status('8'), OLD] }, source('Hello', 'cw')], {}, 'not_there'],
  ['the same warning', [{ json: [status('8'), OLD] }, source('Hello', 'cw')], { options: { visibility: 'public', spoiler_text: 'cw ' } }, 'found'],
  ['another text of another visibility', [{ json: [status('8', { visibility: 'unlisted' }), OLD] }, source('Other')], {}, 'not_there'],
  // A silenced account's public status becomes unlisted: it may be this one.
  ['the same text of another visibility', [{ json: [status('8', { visibility: 'unlisted' }), OLD] }, source('Hello')], {}, 'undetermined'],
  ['the same text as a reply', [{ json: [status('8', { in_reply_to_id: '5' }), OLD] }, source('Hello')], {}, 'undetermined'],
  ['the same reply', [{ json: [status('8', { in_reply_to_id: '5' }), OLD] }, source('Hello')], { options: { visibility: 'public', in_reply_to_id: '5' } }, 'found'],
  ['a poll', [{ json: [status('8', { poll: {} }), OLD] }], {}, 'not_there'],
  ['two of the same', [{ json: [status('9'), status('8'), OLD] }, source('Hello'), source('Hello')], {}, 'undetermined'],
  ['two, of which one belongs to another target', [{ json: [status('9'), status('8'), OLD] }, source('Hello')], { taken: () => Promise.resolve(['9']) }, 'found'],
  ['our attachment', [{ json: [status('8', attached('7')), OLD] }], withMedia, 'found'],
  ['another attachment', [{ json: [status('8', attached('6')), OLD] }], withMedia, 'not_there'],
  ['one that was removed before its source was read', [{ json: [status('8'), OLD] }, error(404, 'Record not found')], {}, 'undetermined'],
  ['statuses without end', Array.from({ length: 10 }, () => ({ json: [status('8', { poll: {} })] })), {}, 'undetermined'],
])('reconcile with %s: %s', async (_name, scripts, more, kind) => {
  expect((await look(new ScriptedHttp(...scripts), more)).kind).toBe(kind);
});

test.each<[string, Script[]]>([
  ['rate_limited', [{ status: 429, ...HTML }]], ['token_expired', [{ status: 401, ...HTML }]], ['unavailable', [{ status: 503, ...HTML }]], ['malformed', [{ ...HTML }]], ['malformed', [{ json: {} }]],
  ['malformed', [{ json: [{ id: 1 }] }]], ['unavailable', [{ json: [status('8'), OLD] }, { status: 503, ...HTML }]],
])('statuses that cannot be read: %s', async (reason, scripts) => {
  expect(await look(new ScriptedHttp(...scripts))).toMatchObject({ kind: 'unreadable', reason });
});

test('absence counts on genuine servers, and never for direct messages', () => {
  expect(mastodon.absence(work())).toEqual({ afterMs: 600_000, reads: 2 });
  expect(mastodon.absence(work({ options: { visibility: 'direct' } }))).toBeNull();
  expect(mastodon.absence(work({ account: { ...account, metadata: {} } }))).toBeNull();
});

test('ids are read from pages of the account\'s own instance', () => {
  const idIn = (url: string) => mastodon.postIdFromUrl(url, { account, endpoints });
  expect(['https://social.example/@ada/99', 'https://social.example/users/ada/statuses/99'].map(idIn)).toEqual(['99', '99']);
  expect(['https://other.example/@ada/99', 'https://social.example/@ada', 'x'].map(idIn)).toEqual([null, null, null]);
});
