import { expect, test } from '@jest/globals';
import { liveEndpoints, sandboxEndpoints } from '../../providers/endpoints.ts';
import { platformCatalog } from '../../providers/catalog.ts';
import { twitter } from '../../providers/twitter/index.ts';
import { postBody } from '../../providers/twitter/publish.ts';
import type { PlannedStep, PublishWork } from '../../providers/provider.ts';
import { accountOf, fileOf, HTML, NOW, ScriptedHttp, workOf, type Script } from './scripted.ts';

const endpoints = liveEndpoints('twitter');
const catalog = platformCatalog('twitter')!;
const work = (more: Partial<PublishWork> = {}) => workOf({ endpoints, options: catalog.normalizeOptions({}), ...more });
const step = (name: string): PlannedStep => ({ name, effect: 'private', required: true });
const problem = (status: number, more: Record<string, unknown>) => ({ status, json: { status, title: 'Error', type: 'about:blank', ...more } });

test('a text post is one step, and a file adds its own before it', () => {
  expect(twitter.plan(work())).toEqual([{ name: 'publish', effect: 'public_unkeyed', required: true }]);
  const two = twitter.plan(work({ media: [fileOf({ altText: 'A cat' }), fileOf()] })).map((one) => one.name);
  expect(two).toEqual(['media_upload_1', 'media_ready_1', 'media_metadata_1', 'media_upload_2', 'media_ready_2', 'publish']);
  const warned = work({ media: [fileOf({ kind: 'video', altText: 'not sent' })], options: { sensitive_media_warning: { other: true } } });
  expect(twitter.plan(warned).map((one) => one.name)).toContain('media_metadata_1');
});

test('201 with an id is the proof, whatever stands beside it', async () => {
  const http = new ScriptedHttp({ status: 201, json: { data: { id: '123', text: 'Hello' }, errors: [{ title: 'partial' }] } });
  const answer = await twitter.send(step('publish'), work(), http);
  expect(answer).toEqual({ kind: 'done', checkpoint: { id: '123' }, providerId: '123', proof: { platformPostId: '123', url: 'https://x.com/ada/status/123' } });
  expect(http.requests).toEqual([{ method: 'POST', url: 'https://api.x.com/2/tweets', json: { text: 'Hello' }, headers: { authorization: 'Bearer secret', accept: 'application/json' } }]);
});

const DUPLICATE = 'You are not allowed to create a Tweet with duplicate content.';
const PUBLISH: [string, Script, Record<string, unknown>][] = [
  ['201 without an id', { status: 201, json: { data: {} } }, { kind: 'unclear', missingProof: '201 with data.id' }],
  ['201 with an id that is none', { status: 201, json: { data: { id: 'abc' } } }, { kind: 'unclear' }],
  ['201 with a number for an id', { status: 201, json: { data: { id: 123 } } }, { kind: 'unclear' }],
  ['201 under another content type', { status: 201, json: { data: { id: '123' } }, contentType: 'text/html' }, { kind: 'unclear' }],
  ['200 with an id', { status: 200, json: { data: { id: '123' } } }, { kind: 'unclear' }],
  ['200 with errors only', { status: 200, json: { errors: [{ message: 'x' }] } }, { kind: 'unclear' }],
  ['200 with a page', { status: 200, ...HTML }, { kind: 'unclear' }],
  ['204', { status: 204 }, { kind: 'unclear' }],
  ['a redirect', { status: 307, headers: { location: '/elsewhere' } }, { kind: 'unclear' }],
  ['401', problem(401, { title: 'Unauthorized' }), { kind: 'expired', error: { code: 'TOKEN_EXPIRED' } }],
  ['401 of a proxy', { status: 401, ...HTML }, { kind: 'unclear' }],
  ['402', problem(402, { title: 'CreditsDepleted' }), { kind: 'refused', error: { code: 'PLATFORM_QUOTA_EXCEEDED' } }],
  ['403 duplicate', problem(403, { detail: DUPLICATE }), { kind: 'refused', error: { code: 'DUPLICATE_CONTENT', platformMessage: DUPLICATE } }],
  ['403 code 187', { status: 403, json: { errors: [{ code: 187, message: 'Status is a duplicate.' }] } }, { kind: 'refused', error: { code: 'DUPLICATE_CONTENT', platformCode: '187' } }],
  ['403 client-forbidden', problem(403, { type: 'https://api.twitter.com/2/problems/client-forbidden' }), { kind: 'refused', error: { code: 'PERMISSION_MISSING', platformCode: 'client-forbidden' } }],
  ['403 not permitted', problem(403, { detail: 'You are not permitted to perform this action.' }), { kind: 'refused', error: { code: 'PERMISSION_MISSING' } }],
  ['403 oauth scope', problem(403, { detail: 'Your token lacks the scope tweet.write' }), { kind: 'refused', error: { code: 'PERMISSION_MISSING' } }],
  ['403 replies', problem(403, { detail: 'Reply to this conversation is not allowed because you have not been mentioned.' }), { kind: 'refused', error: { code: 'PERMISSION_MISSING' } }],
  ['403 quotes', problem(403, { detail: 'Quoting this post is unavailable.' }), { kind: 'refused', error: { code: 'PERMISSION_MISSING' } }],
  ['403 suspended', { status: 403, json: { errors: [{ code: 64, message: 'Your account is suspended and is not permitted to access this feature.' }] } }, { kind: 'refused', error: { code: 'ACCOUNT_RESTRICTED' } }],
  ['403 locked', { status: 403, json: { errors: [{ code: 326, message: 'To protect our users…' }] } }, { kind: 'refused', error: { code: 'ACCOUNT_RESTRICTED' } }],
  ['403 other', problem(403, { detail: 'This text was flagged.' }), { kind: 'refused', error: { code: 'CONTENT_REJECTED' } }],
  ['403 of a proxy', { status: 403, ...HTML }, { kind: 'unclear', missingProof: null }],
  ['400 invalid request', problem(400, { type: 'https://api.twitter.com/2/problems/invalid-request', detail: 'One or more parameters was invalid.' }), { kind: 'refused', error: { code: 'PROVIDER_REJECTED', platformCode: 'invalid-request' } }],
  ['400 too long', { status: 400, json: { errors: [{ code: 186, message: 'Tweet needs to be a bit shorter.' }] } }, { kind: 'refused', error: { code: 'CONTENT_TOO_LONG' } }],
  ['400 media ids', problem(400, { detail: 'Your media IDs are invalid.' }), { kind: 'redo', steps: ['media_upload_1'], error: { code: 'MEDIA_REJECTED' } }],
  ['400 of a proxy', { status: 400, ...HTML }, { kind: 'unclear' }],
  ['404 on a reply', problem(404, { title: 'Not Found Error' }), { kind: 'refused', error: { code: 'OBJECT_NOT_FOUND' } }],
  ['422 unmapped', problem(422, {}), { kind: 'refused', error: { code: 'PROVIDER_REJECTED' } }],
  ['429 with its reset', { ...problem(429, {}), headers: { 'x-rate-limit-reset': String(NOW.getTime() / 1000 + 90) } }, { kind: 'wait', reason: 'rate_limited', afterMs: 90_000 }],
  ['429 with Retry-After', { ...problem(429, {}), headers: { 'retry-after': '7' } }, { kind: 'wait', afterMs: 7_000 }],
  ['429 without a figure', problem(429, {}), { kind: 'wait', afterMs: null }],
  ['429 for a day', { ...problem(429, {}), headers: { 'retry-after': '86400' } }, { kind: 'refused', error: { code: 'PLATFORM_QUOTA_EXCEEDED', retryAt: new Date(NOW.getTime() + 86_400_000) } }],
  ['429 usage capped', problem(429, { type: 'https://api.twitter.com/2/problems/usage-capped' }), { kind: 'refused', error: { code: 'PLATFORM_QUOTA_EXCEEDED' } }],
  ['429 of a proxy', { status: 429, ...HTML }, { kind: 'unclear' }],
  ...[408, 409, 425, 418, 500, 502, 503, 504].map((status): [string, Script, Record<string, unknown>] => [`${status} even with an error body`, problem(status, {}), { kind: 'unclear' }]),
  ['503 with a page', { status: 503, ...HTML }, { kind: 'unclear' }],
  ['null', { status: 400, json: null }, { kind: 'unclear' }],
  ['a list', { status: 400, json: ['title'] }, { kind: 'unclear' }],
];

test.each(PUBLISH)('publish answered by %s', async (_name, script, expected) => {
  const given = work({ media: [fileOf()], checkpoints: { media_upload_1: { id: '7', media_key: '3_7' } } });
  expect(await twitter.send(step('publish'), given, new ScriptedHttp(script))).toMatchObject(expected);
});

test('only what was asked for is sent', () => {
  const options = catalog.normalizeOptions({ reply_to_tweet_id: 5, exclude_reply_user_ids: ['1'], quote_to: 'https://twitter.com/a/status/9', place_id: 'ab', tagged_user_ids: [8], made_with_ai: true, community_id: '3', share_with_followers: true });
  const body = postBody(work({ text: 'Hi \r\nthere \n', options, media: [fileOf()], checkpoints: { media_upload_1: { id: '7' } } }));
  expect(body).toEqual({
    text: 'Hi \nthere', media: { media_ids: ['7'], tagged_user_ids: ['8'] }, reply: { in_reply_to_tweet_id: '5', exclude_reply_user_ids: ['1'] }, quote_tweet_id: '9',
    geo: { place_id: 'ab' }, community_id: '3', share_with_followers: true, made_with_ai: true,
  });
  expect(postBody(work({ options: catalog.normalizeOptions({ poll: { options: ['a', 'b'] }, reply_settings: 'verified' }) }))).toEqual({ text: 'Hello', poll: { options: ['a', 'b'], duration_minutes: 1440 }, reply_settings: 'verified' });
});

const MEDIA = { data: { id: '7', media_key: '3_7', expires_after_secs: 86_400 } };
test('an upload is initialize, segments of 4 MiB, finalize', async () => {
  const http = new ScriptedHttp({ json: MEDIA }, { status: 204 }, { status: 204 }, { json: MEDIA });
  const answer = await twitter.send(step('media_upload_1'), work({ media: [fileOf({ bytes: 5_000_000, kind: 'gif', mimeType: 'image/gif' })] }), http);
  expect(answer).toEqual({ kind: 'done', checkpoint: { id: '7', media_key: '3_7', ready: true }, providerId: '7' });
  expect(http.requests.map((one) => one.url.replace('https://api.x.com/2/media/upload', ''))).toEqual(['/initialize', '/7/append', '/7/append', '/7/finalize']);
  expect(http.requests[0]?.json).toEqual({ media_type: 'image/gif', total_bytes: 5_000_000, media_category: 'tweet_gif' });
  expect(http.requests.slice(1, 3).map((one) => [one.multipart?.[0]?.content, Buffer.byteLength(one.multipart?.[1]?.content as Buffer)])).toEqual([['0', 4_194_304], ['1', 805_696]]);
});

test.each<[string, Script[], Record<string, unknown>]>([
  ['initialize refused', [problem(400, { detail: 'media type unrecognized' })], { kind: 'refused', error: { code: 'MEDIA_REJECTED' } }],
  ['initialize without media_key', [{ json: { data: { id: '7' } } }], { kind: 'unclear' }],
  ['append broken', [{ json: MEDIA }, { status: 500, ...HTML }], { kind: 'unclear' }],
  ['finalize with an error that states no rule', [{ json: MEDIA }, { status: 204 }, { json: { data: { ...MEDIA.data, processing_info: { state: 'failed', error: { code: 1, name: 'InvalidMedia', message: 'Media could not be processed.' } } } } }], { kind: 'refused', error: { code: 'MEDIA_PROCESSING_FAILED' } }],
  ['finalize with an error about the file', [{ json: MEDIA }, { status: 204 }, { json: { data: { ...MEDIA.data, processing_info: { state: 'failed', error: { code: 1, name: 'InvalidMedia', message: 'Unsupported video format' } } } } }], { kind: 'refused', error: { code: 'MEDIA_REJECTED' } }],
  ['finalize with an error of its own', [{ json: MEDIA }, { status: 204 }, { json: { data: { ...MEDIA.data, processing_info: { state: 'failed', error: { code: 2, name: 'InternalError', message: 'try later' } } } } }], { kind: 'refused', error: { code: 'MEDIA_PROCESSING_FAILED' } }],
  ['finalize that begins to work', [{ json: MEDIA }, { status: 204 }, { json: { data: { ...MEDIA.data, processing_info: { state: 'pending', check_after_secs: 3 } } } }], { kind: 'done', checkpoint: { ready: false } }],
  ['no write scope', [problem(403, { detail: 'missing scope media.write' })], { kind: 'refused', error: { code: 'PERMISSION_MISSING' } }],
])('upload: %s', async (_name, scripts, expected) => {
  expect(await twitter.send(step('media_upload_1'), work({ media: [fileOf()] }), new ScriptedHttp(...scripts))).toMatchObject(expected);
});

test('readiness is asked for only where finalize said so, and polls as told', async () => {
  const waiting = work({ media: [fileOf()], checkpoints: { media_upload_1: { id: '7', media_key: '3_7', ready: false } } });
  const status = (info: unknown) => new ScriptedHttp({ json: { data: { id: '7', processing_info: info } } });
  expect(await twitter.send(step('media_ready_1'), waiting, status({ state: 'in_progress', check_after_secs: 90 }))).toMatchObject({ kind: 'wait', reason: 'processing', afterMs: 30_000 });
  expect(await twitter.send(step('media_ready_1'), waiting, status({ state: 'succeeded' }))).toMatchObject({ kind: 'done' });
  expect(await twitter.send(step('media_ready_1'), waiting, new ScriptedHttp({ status: 404, ...HTML }))).toMatchObject({ kind: 'redo', steps: ['media_upload_1'] });
  const silent = new ScriptedHttp();
  expect(await twitter.send(step('media_ready_1'), { ...waiting, checkpoints: { media_upload_1: { id: '7', ready: true } } }, silent)).toMatchObject({ kind: 'done' });
  expect(silent.requests).toHaveLength(0);
});

test('alternative text and warnings are metadata', async () => {
  const http = new ScriptedHttp({ json: { data: { id: '7' } } });
  const given = work({ media: [fileOf({ altText: 'own' })], options: { alt_texts: ['better'], sensitive_media_warning: { other: true } }, checkpoints: { media_upload_1: { id: '7' } } });
  expect(await twitter.send(step('media_metadata_1'), given, http)).toMatchObject({ kind: 'done' });
  expect(http.requests[0]?.json).toEqual({ id: '7', metadata: { alt_text: { text: 'better' }, sensitive_media_warning: { other: true } } });
});

const SINCE = new Date(NOW.getTime() - 90_000);
const tweet = (id: string, more: Record<string, unknown> = {}) => ({ id, text: 'Hello', created_at: new Date(SINCE.getTime() + 1_000).toISOString(), ...more });
const timeline = (data: unknown[], next?: string): Script => ({ json: { ...(data.length === 0 ? {} : { data }), meta: { result_count: data.length, ...(next === undefined ? {} : { next_token: next }) } } });
const look = (http: ScriptedHttp, more: Partial<PublishWork> = {}) => twitter.reconcile(step('publish'), work(more), SINCE, http);

test('one post of the same text in the window is the proof', async () => {
  const http = new ScriptedHttp(timeline([tweet('9', { text: 'Other' })], 'more'), timeline([tweet('8')]));
  const finding = await look(http);
  expect(finding).toMatchObject({ kind: 'found', proof: { platformPostId: '8', url: 'https://x.com/ada/status/8' } });
  expect(finding.seen).toMatchObject([{ kind: 'listing', conclusion: 'happened', data: { items_seen: 2, complete: true, candidates: [{ platform_post_id: '8', conclusive: true }] } }]);
  expect(http.requests.map((one) => one.url)).toEqual([expect.stringContaining('/2/users/42/tweets?start_time=2026-11-21T09:57:30Z&max_results=100&'), expect.stringContaining('&pagination_token=more')]);
});

test.each<[string, Script[], Partial<PublishWork>, string]>([
  ['an empty timeline', [timeline([])], {}, 'not_there'],
  ['another text', [timeline([tweet('8', { text: 'Other' })])], {}, 'not_there'],
  ['two of the same', [timeline([tweet('8'), tweet('9')])], {}, 'undetermined'],
  ['two, of which one belongs to another target', [timeline([tweet('8'), tweet('9')])], { taken: () => Promise.resolve(['9']) }, 'found'],
  ['the only one belongs to another target', [timeline([tweet('8')])], { taken: () => Promise.resolve(['8']) }, 'not_there'],
  ['one from before the window', [timeline([tweet('8', { created_at: '2026-11-21T09:00:00.000Z' })])], {}, 'not_there'],
  ['the same text with media', [timeline([tweet('8', { attachments: { media_keys: ['3_1'] } })])], {}, 'not_there'],
  ['the same text as a reply', [timeline([tweet('8', { referenced_tweets: [{ type: 'replied_to', id: '5' }] })])], {}, 'not_there'],
  ['the same reply', [timeline([tweet('8', { referenced_tweets: [{ type: 'replied_to', id: '5' }] })])], { options: { reply_to: '5' } }, 'found'],
  ['our media keys', [timeline([tweet('8', { text: 'x https://t.co/1', attachments: { media_keys: ['3_7'] } })])], { media: [fileOf()], checkpoints: { media_upload_1: { id: '7', media_key: '3_7' } } }, 'found'],
  ['other media keys, same text', [timeline([tweet('8', { attachments: { media_keys: ['3_8'] } })])], { media: [fileOf()], checkpoints: { media_upload_1: { id: '7', media_key: '3_7' } } }, 'not_there'],
  ['short addresses and entities', [timeline([tweet('8', { text: 'a &amp; b &lt;c&gt; https://t.co/1 t', entities: { urls: [{ url: 'https://t.co/1', expanded_url: 'https://example.com/a?b=1' }] } })])], { text: 'a & b <c> https://example.com/a?b=1 t' }, 'found'],
  ['an address without its scheme', [timeline([tweet('8', { text: 'see https://t.co/1', entities: { urls: [{ url: 'https://t.co/1', expanded_url: 'http://example.com' }] } })])], { text: 'see example.com' }, 'found'],
  ['a quote with its appended address', [timeline([tweet('8', { text: 'Hello https://t.co/1', entities: { urls: [{ url: 'https://t.co/1', expanded_url: 'https://twitter.com/b/status/9' }] }, referenced_tweets: [{ type: 'quoted', id: '9' }] })])], { options: { quote_tweet_id: '9' } }, 'found'],
  ['a long post', [timeline([tweet('8', { text: 'Hel…', note_tweet: { text: 'Hello' } })])], {}, 'found'],
  ['decomposed letters', [timeline([tweet('8', { text: 'é' })])], { text: 'e\u0301' }, 'found'],
  ['a timeline without end', Array.from({ length: 10 }, () => timeline([tweet('8', { text: 'Other' })], 'more')), {}, 'undetermined'],
])('reconcile with %s: %s', async (_name, scripts, more, kind) => {
  expect((await look(new ScriptedHttp(...scripts), more)).kind).toBe(kind);
});

test.each<[string, Script]>([
  ['rate_limited', { status: 429, ...HTML }], ['token_expired', { status: 401, ...HTML }], ['permission', { status: 403, ...HTML }], ['unavailable', { status: 503, ...HTML }],
  ['malformed', { status: 200, ...HTML }], ['malformed', { status: 200, json: { errors: [{ title: 'x' }] } }],
])('a timeline that cannot be read: %s', async (reason, script) => {
  expect(await look(new ScriptedHttp(script))).toMatchObject({ kind: 'unreadable', reason, httpStatus: script.status });
});

test('absence takes three complete reads over six hours', () => {
  expect(twitter.absence(work())).toEqual({ afterMs: 21_600_000, reads: 3 });
  expect(twitter.probeAfterMs).toEqual([60_000, 900_000, 21_600_000, 86_400_000]);
});

test.each<[string, Script, Record<string, unknown>]>([
  ['renewed', { json: { access_token: 'a', refresh_token: 'b', expires_in: 7200 } }, { kind: 'renewed', credential: { accessToken: 'a', refreshToken: 'b' } }],
  ['refused', { status: 400, json: { error: 'invalid_request', error_description: 'Value passed for the token was invalid.' } }, { kind: 'refused', error: { code: 'TOKEN_EXPIRED', platformCode: 'invalid_request' } }],
  ['broken', { status: 500, ...HTML }, { kind: 'unclear' }],
  ['400 of a proxy', { status: 400, ...HTML }, { kind: 'unclear' }],
  ['200 without a token', { json: {} }, { kind: 'unclear' }],
])('refresh: %s', async (_name, script, expected) => {
  const http = new ScriptedHttp(script);
  const answer = await twitter.refresh?.({ account: accountOf(), credential: { accessToken: 'old', refreshToken: 'r' }, endpoints, application: { clientId: 'id', clientSecret: 'word' } }, http);
  expect(answer).toMatchObject(expected);
  expect(http.requests).toMatchObject([{ url: 'https://api.x.com/2/oauth2/token', form: { grant_type: 'refresh_token', refresh_token: 'r' }, headers: { authorization: `Basic ${Buffer.from('id:word').toString('base64')}` } }]);
});

test('ids are read from pages of the platform only', () => {
  const account = accountOf();
  const idIn = (url: string) => twitter.postIdFromUrl(url, { account, endpoints });
  for (const url of ['https://x.com/ada/status/12', 'https://twitter.com/ada/status/12?s=20', 'https://x.com/i/web/status/12', 'https://x.com/ada/status/12/photo/1', 'https://mobile.twitter.com/ada/status/12/']) expect(idIn(url)).toBe('12');
  for (const url of ['https://x.com/ada', 'https://x.com.evil.example/ada/status/12', 'https://example.com/x.com/ada/status/12', 'http://x.com/ada/status/12', 'nothing']) expect(idIn(url)).toBeNull();
  const sandbox = sandboxEndpoints('twitter', 'http://127.0.0.1:4401', 'http://localhost:4400');
  expect(sandbox).toMatchObject({ api: 'http://127.0.0.1:4401/twitter/api', page: 'http://localhost:4400/sandbox/p/twitter/{id}' });
  expect(twitter.postIdFromUrl('http://localhost:4400/sandbox/p/twitter/12', { account, endpoints: sandbox })).toBe('12');
});
