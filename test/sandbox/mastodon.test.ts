import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../infra/contract/ids.ts';
import { as, call, multipart, rawCall, rawPost, startPlayed, trace, type Answered, type Played, type TestAccount } from './played.ts';

let played: Played;
let account: TestAccount;
beforeAll(async () => {
  played = await startPlayed();
  account = await played.account('mastodon');
});
afterAll(() => played.close());

const api = (path: string): string => `${played.url}/mastodon/instance${path}`;
const get = (path: string, who = account): Promise<Answered> => call(api(path), { headers: as(who) });
const send = (json: unknown, { who = account, headers = {} }: { who?: TestAccount; headers?: Record<string, string> } = {}): Promise<Answered> =>
  call(api('/api/v1/statuses'), { method: 'POST', json, headers: as(who, headers) });
const sample = (name: string): Buffer => readFileSync(new URL(`../../providers/sandbox/samples/${name}`, import.meta.url));
const upload = (name: string, { fields = {}, who = account, extra = '' }: { fields?: Record<string, string>; who?: TestAccount; extra?: string } = {}): Promise<Answered> => {
  const form = multipart({ ...fields, file: { filename: name, type: 'application/octet-stream', content: Buffer.concat([sample(name), Buffer.from(extra)]) } });
  return call(api('/api/v2/media'), { method: 'POST', body: form.body, headers: { ...as(who), ...form.headers } });
};
const publications = async (who: TestAccount): Promise<any[]> => (await played.admin('GET', `/admin/ledger?organization_id=${who.organization}&account_id=${who.id}`)).json.entries;

test('POST /api/v1/statuses › 200 with id and url, as JSON and as a form', async () => {
  const seen = await send({ status: 'Hello <b>\n\nhttps://example.com', spoiler_text: 'Careful', visibility: 'unlisted', language: 'de' });
  expect(seen.status).toBe(200);
  expect(seen.json).toMatchObject({ spoiler_text: 'Careful', sensitive: true, visibility: 'unlisted', language: 'de', account: { id: account.platformAccountId } });
  expect(seen.json.content).toBe('<p>Hello &lt;b&gt;</p><p><a href="https://example.com" target="_blank" rel="nofollow noopener" translate="no">https://example.com</a></p>');
  expect(Date.parse(seen.json.created_at)).toBe(Number(BigInt(seen.json.id) >> 16n));
  expect(Date.parse(seen.headers['x-ratelimit-reset']!)).toBeGreaterThan(Date.now());
  const form = await call(api('/api/v1/statuses'), { method: 'POST', body: 'status=As+form&poll[options][]=a&poll[options][]=b&poll[expires_in]=600', headers: as(account, { 'content-type': 'application/x-www-form-urlencoded' }) });
  expect(form.json.poll.options.map((option: any) => option.title)).toEqual(['a', 'b']);
});

test.each([
  ['no text', {}, "Validation failed: Text can't be blank"], ['a long text', { status: 'x'.repeat(501) }, 'Validation failed: Text character limit of 500 exceeded'],
  ['text and warning too long together', { status: 'x'.repeat(300), spoiler_text: 'y'.repeat(201) }, 'Validation failed: Text character limit of 500 exceeded'],
  ['unknown media', { status: 'a', media_ids: ['1'] }, 'Media 1 not found or already attached to another post'],
  ['five media', { status: 'a', media_ids: ['1', '2', '3', '4', '5'] }, 'Cannot attach more than 4 files'],
  ['poll with media', { status: 'a', media_ids: ['1'], poll: { options: ['a', 'b'], expires_in: 600 } }, 'Cannot attach more than 4 files'],
  ['a short poll', { status: 'a', poll: { options: ['a', 'b'], expires_in: 10 } }, 'Validation failed: Expires at is too soon'],
  ['an unknown visibility', { status: 'a', visibility: 'secret' }, "'secret' is not a valid visibility"],
])('POST /api/v1/statuses › 422 for %s', async (_, body, error) => {
  const seen = await send(body);
  expect([seen.status, seen.json]).toEqual([422, { error }]);
});

test('POST /api/v1/statuses › URLs count 23, remote mentions their name, clusters one', async () => {
  expect((await send({ status: `${'x'.repeat(476)} https://example.com/${'y'.repeat(300)}` })).status).toBe(200);
  expect((await send({ status: `${'👨‍👩‍👧‍👦'.repeat(490)} @tea@${'x'.repeat(60)}.example` })).status).toBe(200);
});

test('POST /api/v1/statuses › replies need a status that can be seen', async () => {
  const { id } = (await send({ status: 'root' })).json;
  expect((await send({ status: 'reply', in_reply_to_id: id })).json).toMatchObject({ in_reply_to_id: id, in_reply_to_account_id: account.platformAccountId });
  expect((await send({ status: 'reply', in_reply_to_id: '1' })).status).toBe(404);
});

test('Idempotency-Key › the first status is given back, whatever the body; twenty at once are one', async () => {
  const own = await played.account('mastodon');
  const headers = { 'idempotency-key': newId('operation') };
  const seen = await Promise.all(Array.from({ length: 20 }, () => send({ status: 'Once' }, { who: own, headers })));
  expect(new Set(seen.map((one) => one.json.id)).size).toBe(1);
  expect((await send({ status: 'Something else' }, { who: own, headers })).json.content).toBe('<p>Once</p>');
  const entries = (await played.admin('GET', `/admin/ledger?organization_id=${own.organization}&include=requests`)).json.entries;
  expect(entries.map((entry: any) => entry.kind)).toEqual(['publish', ...Array.from({ length: 20 }, () => 'request')]);
  expect(entries[5]).toMatchObject({ answered: 'success', object_id: seen[0]!.json.id, key: headers['idempotency-key'], text: null });
  await played.restart();
  expect((await send({ status: 'Once' }, { who: own, headers })).json.id).toBe(seen[0]!.json.id);
  expect((await send({ status: 'Once' }, { headers })).json.id).not.toBe(seen[0]!.json.id);
});

test('Idempotency-Key › after drop-after the repetition finds the status, after drop-before it makes it', async () => {
  for (const word of ['drop-after', 'drop-before']) {
    const own = await played.account('mastodon');
    const operation = newId('operation');
    const headers = { 'idempotency-key': operation, ...trace(operation) };
    const body = { status: `Hello sandbox:${word}` };
    expect((await rawCall(played.port, rawPost('/mastodon/instance/api/v1/statuses', own, body, headers))).end).toBe('reset');
    expect((await send(body, { who: own, headers })).status).toBe(200);
    expect((await publications(own)).map((entry) => [entry.kind, entry.double])).toEqual([['publish', false]]);
  }
});

test('Idempotency-Key › a fork ignores it, looks like one, and the ledger says double', async () => {
  const own = await played.account('mastodon', { behaviour: 'ignores_idempotency' });
  const operation = newId('operation');
  const headers = { 'idempotency-key': operation, ...trace(operation) };
  const ids = [(await send({ status: 'Twice' }, { who: own, headers })).json.id, (await send({ status: 'Twice' }, { who: own, headers })).json.id];
  expect(new Set(ids).size).toBe(2);
  expect((await publications(own)).map((entry) => entry.double)).toEqual([false, true]);
  const fork = (await get('/api/v2/instance', own)).json;
  expect([fork.version, fork.api_versions]).toEqual(['2.7.2 (compatible; GoToSocial 0.19.0)', undefined]);
  const genuine = (await get('/api/v2/instance')).json;
  expect([genuine.version, genuine.api_versions, genuine.configuration.statuses.max_characters]).toEqual(['4.5.2', { mastodon: 7 }, 500]);
});

test('media › an image is ready at once, a video after a moment; once attached it is 404', async () => {
  const image = await upload('image.jpg', { fields: { description: 'A gradient', focus: '0.5,-0.5' } });
  expect([image.status, image.json.type, image.json.description, image.json.meta.focus]).toEqual([200, 'image', 'A gradient', { x: 0.5, y: -0.5 }]);
  const video = await upload('video.mp4');
  expect([video.status, video.json.url]).toEqual([202, null]);
  expect((await get(`/api/v1/media/${video.json.id}`)).status).toBe(206);
  const early = await send({ status: 'early', media_ids: [video.json.id] });
  expect([early.status, early.json.error]).toEqual([422, 'Cannot attach files that have not finished processing. Try again in a moment!']);
  expect((await send({ status: 'mixed', media_ids: [video.json.id, image.json.id] })).status).toBe(422);
  await new Promise((resolve) => setTimeout(resolve, 350));
  expect((await get(`/api/v1/media/${video.json.id}`)).status).toBe(200);
  const made = await send({ status: 'picture', media_ids: [image.json.id] });
  expect(made.json.media_attachments).toMatchObject([{ id: image.json.id, description: 'A gradient' }]);
  expect((await get(`/api/v1/media/${image.json.id}`)).status).toBe(404);
  expect((await send({ status: 'again', media_ids: [image.json.id] })).status).toBe(422);
});

test('media › the same media for two simultaneous statuses go to one', async () => {
  const own = await played.account('mastodon');
  const { id } = (await upload('image.png', { who: own })).json;
  const seen = await Promise.all([send({ status: 'a', media_ids: [id] }, { who: own }), send({ status: 'b', media_ids: [id] }, { who: own })]);
  expect(seen.map((one) => one.status).toSorted()).toEqual([200, 422]);
  expect(await publications(own)).toHaveLength(1);
});

test('media › a keyed repetition of a status with media is answered with the first', async () => {
  const { id } = (await upload('image.png')).json;
  const headers = { 'idempotency-key': newId('operation') };
  const seen = [await send({ status: 'keyed', media_ids: [id] }, { headers }), await send({ status: 'keyed', media_ids: [id] }, { headers })];
  expect([seen[1]!.status, seen[1]!.json.id]).toEqual([200, seen[0]!.json.id]);
});

test('media › what is no media is refused; description and focus can be changed', async () => {
  const form = multipart({ file: { filename: 'a.jpg', type: 'image/jpeg', content: Buffer.from('not a picture') } });
  expect((await call(api('/api/v2/media'), { method: 'POST', body: form.body, headers: { ...as(account), ...form.headers } })).status).toBe(422);
  expect((await upload('image.jpg', { fields: { description: 'x'.repeat(1_501) } })).status).toBe(422);
  const { id } = (await upload('image.jpg')).json;
  const changed = await call(api(`/api/v1/media/${id}`), { method: 'PUT', json: { description: 'New' }, headers: as(account) });
  expect([changed.status, changed.json.description]).toEqual([200, 'New']);
});

test('media › words and behaviours make processing slow or failing', async () => {
  const failing = await upload('image.jpg', { fields: { description: 'sandbox:fail-processing' } });
  expect([failing.status, (await get(`/api/v1/media/${failing.json.id}`)).status]).toEqual([202, 422]);
  const slow = await upload('image.jpg', { extra: '[[sandbox:slow-processing=1]]' });
  expect([slow.status, (await get(`/api/v1/media/${slow.json.id}`)).status]).toEqual([202, 206]);
  const own = await played.account('mastodon', { behaviour: 'processing_slow' });
  expect((await upload('image.jpg', { who: own })).status).toBe(202);
});

test('media › a word in the status acts on what was uploaded before', async () => {
  const { id } = (await upload('image.jpg')).json;
  const status = { status: 'Hello sandbox:slow-processing=1', media_ids: [id] };
  expect([(await send(status)).status, (await get(`/api/v1/media/${id}`)).status]).toEqual([422, 206]);
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  expect([(await get(`/api/v1/media/${id}`)).status, (await send(status)).status]).toEqual([200, 200]);
  const failing = (await upload('image.jpg')).json.id;
  expect([(await send({ status: 'Hello sandbox:fail-processing', media_ids: [failing] })).status, (await get(`/api/v1/media/${failing}`)).status]).toEqual([422, 422]);
});

test('GET /api/v1/accounts/:id/statuses › pages by limit, max_id and min_id', async () => {
  const own = await played.account('mastodon');
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.unshift((await send({ status: `number ${index}` }, { who: own })).json.id);
  const list = async (query: string): Promise<string[]> => (await get(`/api/v1/accounts/${own.platformAccountId}/statuses?${query}`, own)).json.map((status: any) => status.id);
  expect(await list('limit=2')).toEqual(ids.slice(0, 2));
  expect(await list(`limit=2&max_id=${ids[1]}`)).toEqual(ids.slice(2, 4));
  expect(await list(`limit=2&min_id=${ids[4]}`)).toEqual(ids.slice(2, 4));
  expect(await list(`limit=40&since_id=${ids[2]}&exclude_reblogs=true`)).toEqual(ids.slice(0, 2));
  expect((await get(`/api/v1/accounts/${own.platformAccountId}/statuses?limit=2`, own)).headers.link).toContain(`max_id=${ids[1]}>; rel="next"`);
});

test('reading › status, source, credentials, search by url, deletion with the text', async () => {
  const made = (await send({ status: 'Find *me*', spoiler_text: 'cw' })).json;
  expect((await get(`/api/v1/statuses/${made.id}`)).json.id).toBe(made.id);
  expect((await get(`/api/v1/statuses/${made.id}/source`)).json).toEqual({ id: made.id, text: 'Find *me*', spoiler_text: 'cw' });
  expect((await get('/api/v1/accounts/verify_credentials')).json).toMatchObject({ id: account.platformAccountId, followers_count: 100 });
  expect((await get(`/api/v2/search?type=statuses&resolve=true&q=${encodeURIComponent(made.url)}`)).json.statuses[0].id).toBe(made.id);
  const removed = await call(api(`/api/v1/statuses/${made.id}`), { method: 'DELETE', headers: as(account) });
  expect([removed.status, removed.json.text]).toEqual([200, 'Find *me*']);
  expect((await call(api(`/api/v1/statuses/${made.id}`), { method: 'DELETE', headers: as(account) })).status).toBe(404);
  expect((await get(`/api/v1/statuses/${made.id}`)).json).toEqual({ error: 'Record not found' });
});

test('private and direct statuses are seen by their author alone, other organizations see nothing', async () => {
  const neighbour = await played.account('mastodon', { organization: account.organization });
  const stranger = await played.account('mastodon');
  const direct = (await send({ status: 'secret', visibility: 'direct' })).json.id;
  const open = (await send({ status: 'open' })).json.id;
  const seen = async (who: TestAccount, id: string): Promise<number> => (await get(`/api/v1/statuses/${id}`, who)).status;
  expect([await seen(account, direct), await seen(neighbour, direct), await seen(neighbour, open), await seen(stranger, open)]).toEqual([200, 404, 200, 404]);
});

test('credentials › 401 in the form of the platform, with its header; wrong paths are 404', async () => {
  const seen = await call(api('/api/v1/accounts/verify_credentials'));
  expect([seen.status, seen.json, seen.headers['www-authenticate']]).toEqual([401, { error: 'The access token is invalid' }, expect.stringContaining('invalid_token')]);
  expect((await get('/api/v9/nothing')).status).toBe(404);
});
