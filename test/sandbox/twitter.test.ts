import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../infra/contract/ids.ts';
import { as, call, multipart, rawCall, startPlayed, trace, type Answered, type Played, type TestAccount } from './played.ts';

let played: Played;
let account: TestAccount;
beforeAll(async () => {
  played = await startPlayed();
  account = await played.account('twitter');
});
afterAll(() => played.close());

const api = (path: string): string => `${played.url}/twitter/api${path}`;
const send = (json: unknown, who = account, headers: Record<string, string> = {}): Promise<Answered> => call(api('/2/tweets'), { method: 'POST', json, headers: as(who, headers) });
const get = (path: string, who = account): Promise<Answered> => call(api(path), { headers: as(who) });
const sample = (name: string): Buffer => readFileSync(new URL(`../../providers/sandbox/samples/${name}`, import.meta.url));

async function upload(content: Buffer, type: string, category: string, { who = account, headers = {} }: { who?: TestAccount; headers?: Record<string, string> } = {}): Promise<{ id: string; media_key: string; final: Answered }> {
  const begun = await call(api('/2/media/upload/initialize'), { method: 'POST', json: { media_type: type, total_bytes: content.length, media_category: category }, headers: as(who, headers) });
  expect(begun.status).toBe(200);
  const { id, media_key } = begun.json.data;
  const half = Math.ceil(content.length / 2);
  for (const [index, part] of [content.subarray(0, half), content.subarray(half)].entries()) {
    const form = multipart({ segment_index: String(index), media: { filename: 'blob', type: 'application/octet-stream', content: part } });
    expect((await call(api(`/2/media/upload/${id}/append`), { method: 'POST', body: form.body, headers: { ...as(who, headers), ...form.headers } })).status).toBe(200);
  }
  return { id, media_key, final: await call(api(`/2/media/upload/${id}/finalize`), { method: 'POST', headers: as(who, headers) }) };
}

const status = (id: string): Promise<Answered> => get(`/2/media/upload?command=STATUS&media_id=${id}`);

async function whenReady(id: string): Promise<any> {
  for (;;) {
    const { json } = await status(id);
    if (json.data.processing_info?.state !== 'in_progress') return json.data.processing_info;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('POST /2/tweets › 201 with the id, the text as shown, and rate limit headers', async () => {
  const seen = await send({ text: 'Tea & <cake> https://example.com/a/long/address?x=1' });
  expect(seen.status).toBe(201);
  expect(seen.json.data.id).toMatch(/^[0-9]{19}$/);
  expect(seen.json.data.text).toMatch(/^Tea &amp; &lt;cake&gt; https:\/\/t\.co\/[A-Za-z0-9]{10}$/);
  expect(Number(seen.headers['x-rate-limit-reset'])).toBeGreaterThan(Date.now() / 1_000);
  expect([seen.headers['x-rate-limit-limit'], Number(seen.headers['x-rate-limit-remaining']) < 100]).toEqual(['100', true]);
});

test.each([
  ['an unknown field', { text: 'a', status: 'a' }], ['no text', {}], ['a blank text', { text: '  ' }], ['a number as text', { text: 1 }],
  ['poll and quote', { text: 'a', poll: { options: ['a', 'b'], duration_minutes: 60 }, quote_tweet_id: '1' }],
  ['one poll option', { text: 'a', poll: { options: ['a'], duration_minutes: 60 } }], ['a long poll option', { text: 'a', poll: { options: ['a', 'b'.repeat(26)], duration_minutes: 60 } }],
  ['a short poll', { text: 'a', poll: { options: ['a', 'b'], duration_minutes: 4 } }], ['five media', { media: { media_ids: ['1', '2', '3', '4', '5'] } }],
  ['unknown media', { media: { media_ids: ['1'] } }], ['an unknown reply setting', { text: 'a', reply_settings: 'everyone' }],
  ['a text over 280', { text: 'x'.repeat(281) }], ['141 wide characters', { text: '界'.repeat(141) }], ['an array', []],
])('POST /2/tweets › 400 invalid-request for %s', async (_, body) => {
  const seen = await send(body);
  expect([seen.status, seen.json.title, seen.json.type]).toEqual([400, 'Invalid Request', 'https://api.twitter.com/2/problems/invalid-request']);
  expect(typeof seen.json.errors[0].message).toBe('string');
});

test('POST /2/tweets › a URL counts 23, an emoji 2, and broken JSON or another content type is 400', async () => {
  expect((await send({ text: `${'x'.repeat(255)} https://example.com/${'y'.repeat(200)}` })).status).toBe(201);
  expect((await send({ text: '👨‍👩‍👧‍👦'.repeat(140) })).status).toBe(201);
  expect((await call(api('/2/tweets'), { method: 'POST', body: '{"text":', headers: as(account, { 'content-type': 'application/json' }) })).status).toBe(400);
  expect((await call(api('/2/tweets'), { method: 'POST', body: 'text=a', headers: as(account, { 'content-type': 'application/x-www-form-urlencoded' }) })).status).toBe(400);
});

test('POST /2/tweets › replies and quotes need a post that can be seen', async () => {
  const { id } = (await send({ text: 'root' })).json.data;
  const reply = await send({ text: 'reply', reply: { in_reply_to_tweet_id: id } });
  const shown = (await get(`/2/tweets/${reply.json.data.id}?tweet.fields=referenced_tweets,conversation_id`)).json.data;
  expect(shown.referenced_tweets).toEqual([{ type: 'replied_to', id }]);
  expect((await send({ text: 'reply', reply: { in_reply_to_tweet_id: '123' } })).status).toBe(404);
  const stranger = await played.account('twitter');
  expect((await send({ text: 'quote', quote_tweet_id: id }, stranger)).status).toBe(404);
});

test('POST /2/tweets › accounts with long posts have 25,000 and a note', async () => {
  const premium = await played.account('twitter', { username: 'premium_tea' });
  const text = `${'long '.repeat(100)}end`;
  expect((await send({ text }, premium)).status).toBe(201);
  const [shown] = (await get(`/2/users/${premium.platformAccountId}/tweets?tweet.fields=note_tweet`, premium)).json.data;
  expect([shown.note_tweet.text, shown.text.length < 280]).toEqual([text, true]);
});

test('GET /2/users/:id/tweets › pages of the own posts, newest first, from a time on', async () => {
  const own = await played.account('twitter');
  const ids: string[] = [];
  for (let index = 0; index < 7; index += 1) ids.unshift((await send({ text: `number ${index}` }, own)).json.data.id);
  const first = (await get(`/2/users/${own.platformAccountId}/tweets?max_results=5&tweet.fields=created_at`, own)).json;
  expect(first.data.map((tweet: any) => tweet.id)).toEqual(ids.slice(0, 5));
  expect(first.meta).toMatchObject({ result_count: 5, newest_id: ids[0], oldest_id: ids[4] });
  const second = (await get(`/2/users/${own.platformAccountId}/tweets?max_results=5&pagination_token=${first.meta.next_token}`, own)).json;
  expect([second.data.map((tweet: any) => tweet.id), second.meta.next_token]).toEqual([ids.slice(5), undefined]);
  const later = new Date(Date.now() + 1_000).toISOString();
  expect((await get(`/2/users/${own.platformAccountId}/tweets?start_time=${later}`, own)).json).toEqual({ meta: { result_count: 0 } });
  for (const query of ['max_results=4', 'max_results=101', 'limit=5', 'tweet.fields=everything', 'start_time=yesterday', 'pagination_token=x']) {
    expect((await get(`/2/users/${own.platformAccountId}/tweets?${query}`, own)).status).toBe(400);
  }
});

test('media › initialize, append, finalize, describe; the post shows key, alt text and trailing link', async () => {
  const own = await played.account('twitter');
  const { id, media_key, final } = await upload(sample('image.jpg'), 'image/jpeg', 'tweet_image', { who: own });
  expect([final.status, final.json.data.processing_info, media_key]).toEqual([200, undefined, `3_${id}`]);
  expect((await call(api('/2/media/metadata'), { method: 'POST', json: { id, metadata: { alt_text: { text: 'A gradient' } } }, headers: as(own) })).status).toBe(200);
  const made = await send({ text: 'With picture', media: { media_ids: [id] } }, own);
  expect(made.json.data.text).toMatch(/^With picture https:\/\/t\.co\/\w{10}$/);
  const listed = (await get(`/2/users/${own.platformAccountId}/tweets?expansions=attachments.media_keys&tweet.fields=attachments,entities&media.fields=alt_text,url`, own)).json;
  expect(listed.data[0].attachments.media_keys).toEqual([media_key]);
  expect(listed.data[0].entities.urls[0]).toMatchObject({ media_key, start: 13, end: 36 });
  expect(listed.includes.media[0]).toMatchObject({ media_key, type: 'photo', alt_text: 'A gradient' });
  const [entry] = (await played.admin('GET', `/admin/ledger?organization_id=${own.organization}`)).json.entries;
  expect(entry.media).toEqual([{ kind: 'image', mime_type: 'image/jpeg', bytes: sample('image.jpg').length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/), alt_text: 'A gradient' }]);
});

test('media › a video is processed for a moment; before that a post with it is refused', async () => {
  const { id, final } = await upload(sample('video.mp4'), 'video/mp4', 'tweet_video');
  expect(final.json.data.processing_info).toMatchObject({ state: 'in_progress', check_after_secs: 1 });
  expect((await send({ text: 'early', media: { media_ids: [id] } })).json.errors[0].message).toBe('Your media IDs are invalid.');
  expect(await whenReady(id)).toMatchObject({ state: 'succeeded' });
  expect((await send({ text: 'ready', media: { media_ids: [id] } })).status).toBe(201);
});

test('media › sizes, types, unfinished uploads and foreign ids are refused', async () => {
  const begin = (body: unknown): Promise<Answered> => call(api('/2/media/upload/initialize'), { method: 'POST', json: body, headers: as(account) });
  for (const body of [
    { media_type: 'image/jpeg', total_bytes: 6_000_000, media_category: 'tweet_image' }, { media_type: 'text/html', total_bytes: 1, media_category: 'tweet_image' },
    { media_type: 'video/mp4', total_bytes: 1, media_category: 'tweet_image' }, { media_type: 'image/png', total_bytes: 0, media_category: 'tweet_image' }, { media_type: 'image/png', total_bytes: 5, name: 'x' },
  ]) expect((await begin(body)).status).toBe(400);
  const { id } = (await begin({ media_type: 'image/png', total_bytes: 500, media_category: 'tweet_image' })).json.data;
  expect((await call(api(`/2/media/upload/${id}/finalize`), { method: 'POST', headers: as(account) })).status).toBe(400);
  expect((await send({ text: 'unfinished', media: { media_ids: [id] } })).status).toBe(400);
  const foreign = await upload(sample('image.png'), 'image/png', 'tweet_image', { who: await played.account('twitter') });
  expect((await send({ text: 'foreign', media: { media_ids: [foreign.id] } })).status).toBe(400);
});

test('media › behaviours processing_slow and processing_failed, and words inside the file', async () => {
  const slow = await played.account('twitter', { behaviour: 'processing_slow' });
  expect((await upload(sample('image.png'), 'image/png', 'tweet_image', { who: slow })).final.json.data.processing_info).toMatchObject({ state: 'in_progress', check_after_secs: 20 });
  const failing = await played.account('twitter', { behaviour: 'processing_failed' });
  const { id } = await upload(sample('video.mp4'), 'video/mp4', 'tweet_video', { who: failing });
  await new Promise((resolve) => setTimeout(resolve, 350));
  expect((await get(`/2/media/upload?command=STATUS&media_id=${id}`, failing)).json.data.processing_info).toMatchObject({ state: 'failed', error: { name: 'InvalidMedia' } });
  const worded = await upload(Buffer.concat([sample('image.png'), Buffer.from('[[sandbox:fail-processing]]')]), 'image/png', 'tweet_image');
  expect((await status(worded.id)).json.data.processing_info.state).toBe('failed');
});

test('media › a word in the text that comes later refuses the media, and the next upload of the operation obeys it', async () => {
  const operation = newId('operation');
  const text = 'Hello sandbox:fail-processing';
  const first = await upload(sample('image.png'), 'image/png', 'tweet_image', { headers: trace(operation, 'media_upload_1') });
  expect((await send({ text, media: { media_ids: [first.id] } }, account, trace(operation))).json.errors[0].message).toBe('Your media IDs are invalid.');
  const second = await upload(sample('image.png'), 'image/png', 'tweet_image', { headers: trace(operation, 'media_upload_1') });
  expect((await status(second.id)).json.data.processing_info.state).toBe('failed');
});

test('media › slow-processing in a text delays it, and it is published once', async () => {
  const own = await played.account('twitter');
  const operation = newId('operation');
  const body = (id: string): unknown => ({ text: 'Hello sandbox:slow-processing=1', media: { media_ids: [id] } });
  const first = await upload(sample('image.png'), 'image/png', 'tweet_image', { who: own, headers: trace(operation, 'media_upload_1') });
  expect((await send(body(first.id), own, trace(operation))).status).toBe(400);
  const second = await upload(sample('image.png'), 'image/png', 'tweet_image', { who: own, headers: trace(operation, 'media_upload_1') });
  expect((await send(body(second.id), own, trace(operation))).status).toBe(400);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await send(body(second.id), own, trace(operation))).status).toBe(201);
});

test('media › a word at a private step acts on its first request alone', async () => {
  const headers = trace(newId('operation'), 'media_metadata_1');
  const { id } = await upload(sample('image.png'), 'image/png', 'tweet_image');
  const describe = (): Promise<Answered> => call(api('/2/media/metadata'), { method: 'POST', json: { id, metadata: { alt_text: { text: 'A [[sandbox:500-after@media_metadata_1]]' } } }, headers: as(account, headers) });
  expect([(await describe()).status, (await describe()).status]).toEqual([500, 200]);
});

test('DELETE /2/tweets/:id › once; a second one finds nothing', async () => {
  const own = await played.account('twitter');
  const { id } = (await send({ text: 'short life' }, own)).json.data;
  const remove = (): Promise<Answered> => call(api(`/2/tweets/${id}`), { method: 'DELETE', headers: as(own) });
  expect((await call(api(`/2/tweets/${id}`), { method: 'DELETE', headers: as(account) })).status).toBe(404);
  expect([(await remove()).json, (await remove()).status]).toEqual([{ data: { deleted: true } }, 404]);
  expect((await get(`/2/tweets/${id}`, own)).json.errors[0].type).toBe('https://api.twitter.com/2/problems/resource-not-found');
});

test('credentials › absent, foreign, of another platform and of an old generation are 401 in the form of the platform', async () => {
  const own = await played.account('twitter');
  const mastodon = await played.account('mastodon');
  for (const authorization of [undefined, 'Bearer x', `Bearer ${own.access.replace(/.$/, 'Z')}`, `Bearer ${mastodon.access}`, `Basic ${own.access}`, `Bearer ${own.refresh}`]) {
    const seen = await call(api('/2/users/me'), { headers: authorization === undefined ? {} : { authorization } });
    expect([seen.status, seen.json]).toEqual([401, { title: 'Unauthorized', type: 'about:blank', status: 401, detail: 'Unauthorized' }]);
  }
  expect((await get('/2/users/me?user.fields=public_metrics', own)).json.data).toMatchObject({ id: own.platformAccountId, username: own.username, public_metrics: { followers_count: 100 } });
});

function refresh(token: string, headers: Record<string, string> = { authorization: `Basic ${Buffer.from('client:secret').toString('base64')}` }): Promise<Answered> {
  return call(api('/2/oauth2/token'), { method: 'POST', body: `grant_type=refresh_token&refresh_token=${token}`, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } });
}

test('POST /2/oauth2/token › a refresh token works once; the old access token ends', async () => {
  const own = await played.account('twitter');
  const pairs = await Promise.all([refresh(own.refresh), refresh(own.refresh)]);
  expect(pairs.map((pair) => pair.status).toSorted()).toEqual([200, 400]);
  const pair = pairs.find((one) => one.status === 200)!.json;
  expect(pair).toMatchObject({ token_type: 'bearer', expires_in: 7_200, access_token: expect.stringMatching(new RegExp(`^sandbox-${own.id.slice(4)}-2-\\w{24}$`)) });
  expect((await get('/2/users/me', own)).status).toBe(401);
  expect((await get('/2/users/me', { ...own, access: pair.access_token })).status).toBe(200);
  expect((await refresh(own.refresh)).json).toEqual({ error: 'invalid_request', error_description: 'Value passed for the token was invalid.' });
  expect((await refresh(pair.refresh_token, {})).status).toBe(401);
});

test('behaviours of the token › expired until refreshed, revoked for good, refresh lost', async () => {
  const expired = await played.account('twitter', { behaviour: 'token_expired' });
  expect((await get('/2/users/me', expired)).status).toBe(401);
  const renewed = (await refresh(expired.refresh)).json;
  expect((await get('/2/users/me', { ...expired, access: renewed.access_token })).status).toBe(200);

  const revoked = await played.account('twitter', { behaviour: 'token_revoked' });
  expect([(await get('/2/users/me', revoked)).status, (await refresh(revoked.refresh)).status]).toEqual([401, 400]);

  const lost = await played.account('twitter', { behaviour: 'refresh_lost' });
  const form = `grant_type=refresh_token&client_id=a&refresh_token=${lost.refresh}`;
  const seen = await rawCall(played.port, `POST /twitter/api/2/oauth2/token HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${form.length}\r\n\r\n${form}`);
  expect(seen).toEqual({ received: '', end: 'reset' });
  expect([(await refresh(lost.refresh)).status, (await get('/2/users/me', lost)).status]).toEqual([400, 401]);
});

test('duplicate texts › refused only when the deployment says so', async () => {
  const own = await played.account('twitter');
  expect([(await send({ text: 'again' }, own)).status, (await send({ text: 'again' }, own)).status]).toEqual([201, 201]);
  await played.restart({ duplicates: true });
  expect((await send({ text: 'again' }, own)).json.detail).toBe('You are not allowed to create a Tweet with duplicate content.');
  await played.restart();
});

test('rate limit headers › count down and are never exhausted by themselves', async () => {
  const own = await played.account('twitter');
  const seen = await Promise.all(Array.from({ length: 120 }, (_, index) => send({ text: `burst ${index}` }, own)));
  expect(seen.every((one) => one.status === 201)).toBe(true);
  expect(Math.min(...seen.map((one) => Number(one.headers['x-rate-limit-remaining'])))).toBe(1);
});

test('public addresses › https://x.com/{user}/status/{id} leads to the page of the service', async () => {
  const { id } = (await send({ text: 'page' })).json.data;
  const seen = await call(`${played.url}/twitter/oauth/${account.username}/status/${id}`);
  expect([seen.status, seen.headers.location]).toEqual([302, `https://oncepost.test/sandbox/p/twitter/${id}`]);
});
