import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import { newId } from '../../infra/contract/ids.ts';
import { as, call, rawCall, rawPost, startPlayed, trace, type Played, type TestAccount } from './played.ts';

let played: Played;
beforeAll(async () => {
  played = await startPlayed();
});
afterAll(() => played.close());

const tweet = (account: TestAccount, text: string, headers: Record<string, string> = {}): ReturnType<typeof call> =>
  call(`${played.url}/twitter/api/2/tweets`, { method: 'POST', json: { text }, headers: as(account, headers) });
const admin = (path: string): ReturnType<Played['admin']> => played.admin('GET', path);

test('ledger › ordinals have no gaps under load, and every answer has its committed entry', async () => {
  const account = await played.account('twitter');
  const other = await played.account('twitter');
  const seen = await Promise.all(Array.from({ length: 300 }, (_, index) => tweet(index % 3 === 0 ? other : account, `Load ${index}`)));
  expect(seen.every((one) => one.status === 201)).toBe(true);
  const first = (await admin(`/admin/ledger?organization_id=${account.organization}&limit=150`)).json;
  const second = (await admin(`/admin/ledger?organization_id=${account.organization}&limit=150&after=${first.next}`)).json;
  const entries = [...first.entries, ...second.entries];
  expect(entries.map((entry: any) => entry.ordinal)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  expect(new Set(entries.map((entry: any) => entry.text)).size).toBe(200);
  expect(second.next).toBeNull();
});

test('ledger › an entry names operation, step, attempt, request and what was answered', async () => {
  const account = await played.account('twitter');
  const operation = newId('operation');
  const { id } = (await tweet(account, 'Hello', trace(operation, 'publish', 2))).json.data;
  const [entry] = (await admin(`/admin/ledger?organization_id=${account.organization}`)).json.entries;
  expect(entry).toEqual({
    id: expect.stringMatching(/^sbx_[0-9a-f]{32}$/), epoch: 1, ordinal: 1, at: expect.any(String), platform: 'twitter', account_id: account.id, kind: 'publish', object_id: id,
    platform_post_id: id, parent_id: null, url: `https://oncepost.test/sandbox/p/twitter/${id}`, text: 'Hello', media: [], recipient: null, operation_id: operation,
    step: 'publish', attempt: 2, key: null, answered: 'success', word: null, double: false,
    request: { id: expect.stringMatching(/^req_/), method: 'POST', path: '/twitter/api/2/tweets', body_sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 16 },
  });
  expect((await admin(`/admin/ledger/${entry.id}?organization_id=${account.organization}`)).json).toEqual(entry);
  expect((await admin(`/admin/ledger/${entry.id}?organization_id=${newId('organization')}`)).status).toBe(404);
});

test('ledger › filters and summary count publications and nothing else', async () => {
  const account = await played.account('twitter');
  const operation = newId('operation');
  await tweet(account, 'one', trace(operation));
  await tweet(account, 'two sandbox:refuse');
  await tweet(account, 'two again', trace(operation));
  const query = `organization_id=${account.organization}`;
  const texts = async (more: string): Promise<string[]> => (await admin(`/admin/ledger?${query}&${more}`)).json.entries.map((entry: any) => entry.text ?? entry.answered);
  expect(await texts('text=two')).toEqual(['two again']);
  expect(await texts('include=requests')).toEqual(['one', 'refused', 'two again']);
  expect(await texts('kind=request')).toEqual(['refused']);
  expect(await texts(`operation_id=${operation}&platform=twitter,mastodon&account_id=${account.id}`)).toEqual(['one', 'two again']);
  expect(await texts('platform=mastodon')).toEqual([]);
  const summary = (await admin(`/admin/ledger/summary?${query}&include=operation_ids`)).json;
  expect(summary).toMatchObject({ epoch: 1, entries: 2, objects: 2, operations: 1, doubles: 1, requests: 1, operation_ids: [operation] });
  expect([Object.keys(summary.by_platform).length, summary.by_platform.twitter]).toEqual([21, { objects: 2, doubles: 1 }]);
});

test('ledger › a removed object makes no double of the next one', async () => {
  const account = await played.account('twitter');
  const headers = trace(newId('operation'));
  const { id } = (await tweet(account, 'one', headers)).json.data;
  await call(`${played.url}/twitter/api/2/tweets/${id}`, { method: 'DELETE', headers: as(account) });
  await tweet(account, 'one', headers);
  const entries = (await admin(`/admin/ledger?organization_id=${account.organization}`)).json.entries;
  expect(entries.map((entry: any) => [entry.kind, entry.double])).toEqual([['publish', false], ['remove', false], ['publish', false]]);
});

test('ledger › nothing in it can be changed or deleted', async () => {
  const account = await played.account('twitter');
  await tweet(account, 'for ever');
  const { Client } = createRequire(import.meta.url)('pg');
  const client = new Client(played.databaseUrl);
  await client.connect();
  await expect(client.query(`update sandbox.ledger set text = 'other'`)).rejects.toThrow('append-only');
  await expect(client.query('delete from sandbox.ledger')).rejects.toThrow('append-only');
  await client.end();
});

test('ledger › it survives a restart, and so do objects and accounts', async () => {
  const account = await played.account('twitter');
  const { id } = (await tweet(account, 'still here')).json.data;
  await played.restart();
  expect((await call(`${played.url}/twitter/api/2/tweets/${id}`, { headers: as(account) })).json.data.text).toBe('still here');
  expect((await admin(`/admin/ledger?organization_id=${account.organization}`)).json.entries).toHaveLength(1);
});

test('texts that PostgreSQL cannot hold are stored without what it refuses', async () => {
  const account = await played.account('twitter');
  const body = String.raw`{"text":"a\u0000b\ud800c \\u0000"}`;
  const seen = await call(`${played.url}/twitter/api/2/tweets`, { method: 'POST', body, headers: as(account, { 'content-type': 'application/json' }) });
  expect(seen.status).toBe(201);
  expect((await admin(`/admin/ledger?organization_id=${account.organization}`)).json.entries[0].text).toBe('ab\ufffdc \\u0000');
});

test('objects › what is public now, page by page', async () => {
  const account = await played.account('twitter');
  const ids: string[] = [];
  for (const text of ['a', 'b', 'c']) ids.push((await tweet(account, text)).json.data.id);
  await call(`${played.url}/twitter/api/2/tweets/${ids[1]}`, { method: 'DELETE', headers: as(account) });
  const query = `/admin/objects?organization_id=${account.organization}`;
  const first = (await admin(`${query}&limit=1`)).json;
  const second = (await admin(`${query}&limit=1&after=${first.next}`)).json;
  expect([first.objects[0].object_id, second.objects[0].object_id, second.next]).toEqual([ids[0], ids[2], null]);
  expect((await admin(`${query}&state=all`)).json.objects.map((object: any) => object.state)).toEqual(['public', 'removed', 'public']);
  const page = first.objects[0].url.split('/').at(-1);
  expect((await admin(`/admin/pages/twitter/${page}`)).json).toMatchObject({ text: 'a', account: { username: account.username } });
  expect((await admin(`/admin/pages/twitter/${'0'.repeat(32)}`)).status).toBe(404);
});

test('reset › objects, words and behaviours start anew, the ledger keeps its rows under their epoch', async () => {
  const account = await played.account('twitter', { behaviour: 'listing_hidden' });
  const headers = trace(newId('operation'));
  await tweet(account, 'Hello sandbox:500-after', headers);
  expect((await played.admin('POST', '/admin/reset', { organization_id: account.organization })).json).toEqual({ epoch: 2, accounts: 1 });
  expect((await call(`${played.url}/twitter/api/2/users/${account.platformAccountId}/tweets`, { headers: as(account) })).json.meta).toEqual({ result_count: 0 });
  expect((await tweet(account, 'Hello sandbox:500-after', trace(newId('operation')))).status).toBe(500);
  const query = `/admin/ledger?organization_id=${account.organization}`;
  expect([(await admin(query)).json.entries.length, (await admin(`${query}&epoch=1`)).json.entries.length, (await admin(`${query}&epoch=all`)).json.entries.length]).toEqual([1, 1, 2]);
  expect((await admin(`/admin/accounts/${account.id}`)).json.behaviour).toBe('normal');
});

test('administration › nobody gets in without the secret, and bad input is 400', async () => {
  const account = await played.account('twitter');
  for (const headers of [{}, { authorization: 'Bearer wrong' }, as(account)]) expect((await call(`${played.url}/admin/words`, { headers })).status).toBe(404);
  expect((await admin('/admin/words')).json.words.map((word: any) => word.name)).toContain('drop-after');
  expect((await admin('/admin/platforms')).json.data.map((one: any) => [one.platform, one.refreshable])).toEqual([['twitter', true], ['mastodon', false]]);
  expect((await admin('/admin/ledger')).status).toBe(400);
  expect((await admin(`/admin/ledger?organization_id=${account.organization}&limit=0`)).status).toBe(400);
  expect((await admin(`/admin/objects?organization_id=${account.organization}&after=x`)).status).toBe(400);
  expect((await played.admin('PUT', `/admin/accounts/${account.id}`, { platform: 'twitter' })).status).toBe(400);
  expect((await played.admin('PATCH', `/admin/accounts/${account.id}`, { behaviour: 'rude' })).status).toBe(400);
  expect((await played.admin('PATCH', `/admin/accounts/${newId('account')}`, { behaviour: 'normal' })).status).toBe(404);
  expect((await played.admin('DELETE', `/admin/accounts/${account.id}`)).status).toBe(204);
  expect((await tweet(account, 'gone')).status).toBe(401);
});

test('stopping › a hanging request does not hold it up for long, and what it did stays', async () => {
  const account = await played.account('twitter');
  const hanging = rawCall(played.port, rawPost('/twitter/api/2/tweets', account, { text: 'sandbox:hang' }), 20_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await played.restart();
  expect((await hanging).end).not.toBe('open');
  expect((await admin(`/admin/ledger?organization_id=${account.organization}`)).json.entries).toHaveLength(1);
});

test('health and samples › are open to everybody', async () => {
  expect((await call(`${played.url}/health`)).json).toEqual({ status: 'ok' });
  const video = await call(`${played.url}/samples/video.mp4`);
  expect([video.status, video.headers['content-type'], Number(video.headers['content-length']) < 500_000]).toEqual([200, 'video/mp4', true]);
  expect((await call(`${played.url}/samples/..%2fserver.ts`)).status).toBe(404);
});
