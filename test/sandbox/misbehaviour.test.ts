import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../infra/contract/ids.ts';
import { as, call, rawCall, rawPost, startPlayed, trace, type Answered, type Played, type TestAccount } from './played.ts';

let played: Played;
beforeAll(async () => {
  played = await startPlayed();
});
afterAll(() => played.close());

const PLATFORMS = {
  twitter: { path: '/twitter/api/2/tweets', field: 'text', success: 201 },
  mastodon: { path: '/mastodon/instance/api/v1/statuses', field: 'status', success: 200 },
} as const;
type Name = keyof typeof PLATFORMS;
const NAMES = Object.keys(PLATFORMS) as Name[];

const post = (name: Name, account: TestAccount, text: string, headers: Record<string, string> = {}): Promise<Answered> =>
  call(played.url + PLATFORMS[name].path, { method: 'POST', json: { [PLATFORMS[name].field]: text }, headers: as(account, headers) });

const raw = (name: Name, account: TestAccount, text: string, waitMs?: number): ReturnType<typeof rawCall> =>
  rawCall(played.port, rawPost(PLATFORMS[name].path, account, { [PLATFORMS[name].field]: text }), waitMs);

async function ledger(account: TestAccount): Promise<{ kind: string; answered: string; word: string | null; text: string | null }[]> {
  return (await played.admin('GET', `/admin/ledger?organization_id=${account.organization}&account_id=${account.id}&include=requests`)).json.entries;
}

async function only(account: TestAccount): Promise<[string, string, string | null]> {
  const entries = await ledger(account);
  expect(entries).toHaveLength(1);
  return [entries[0]!.kind, entries[0]!.answered, entries[0]!.word];
}

async function listed(name: Name, account: TestAccount): Promise<Answered> {
  return call(name === 'twitter' ? `${played.url}/twitter/api/2/users/${account.platformAccountId}/tweets` : `${played.url}/mastodon/instance/api/v1/accounts/${account.platformAccountId}/statuses`, { headers: as(account) });
}

const count = async (name: Name, account: TestAccount): Promise<number> => {
  const { json } = await listed(name, account);
  return name === 'twitter' ? json.meta.result_count : json.length;
};

for (const name of NAMES) {
  const { success } = PLATFORMS[name];

  test.each([
    ['drop-before', 'reset', false, 'dropped'], ['drop-midway', 'reset', false, 'dropped'], ['drop-after', 'reset', true, 'dropped'],
    ['hang-before', 'open', false, 'hung'], ['hang', 'open', true, 'hung'],
  ] as const)(`${name} › %s: the connection is %s, done: %s`, async (word, end, done, answered) => {
    const account = await played.account(name);
    const seen = await raw(name, account, `Hello [[sandbox:${word}]]`, end === 'open' ? 300 : 3_000);
    expect(seen).toEqual({ received: '', end });
    expect(await only(account)).toEqual([done ? 'publish' : 'request', answered, word]);
    expect(await count(name, account)).toBe(done ? 1 : 0);
  });

  test(`${name} › truncate: status and headers of the whole, half of the body, an orderly end, done once`, async () => {
    const account = await played.account(name);
    const { received, end } = await raw(name, account, 'Hello sandbox:truncate');
    const [head = '', body = ''] = received.split('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect([end, Number(head.split(' ')[1]), body.length]).toEqual(['closed', success, Math.floor(length / 2)]);
    expect(await only(account)).toEqual(['publish', 'truncated', 'truncate']);
  });

  test.each([
    ['500-before', 500, 'internal error', false, 'error'], ['500-after', 500, 'internal error', true, 'error'], ['503-before', 503, '<html>', false, 'error'],
    ['garble', 200, '<!DOCTYPE html>', true, 'garbled'],
  ] as const)(`${name} › %s answers %i`, async (word, status, start, done, answered) => {
    const account = await played.account(name);
    const seen = await post(name, account, `Hello [[sandbox:${word}]]`);
    expect([seen.status, seen.text.startsWith(start), seen.json]).toEqual([status, true, undefined]);
    expect(await only(account)).toEqual([done ? 'publish' : 'request', answered, word]);
  });

  test(`${name} › huge is valid JSON of more than 3 MiB, and done`, async () => {
    const account = await played.account(name);
    const seen = await post(name, account, 'Hello sandbox:huge');
    expect(seen.status).toBe(200);
    expect(seen.text.length).toBeGreaterThan(3 * 1_048_576);
    expect(seen.json).toBeDefined();
    expect(await only(account)).toEqual(['publish', 'huge', 'huge']);
  });

  test(`${name} › no-id is a success without the proof, and done`, async () => {
    const account = await played.account(name);
    const seen = await post(name, account, 'Hello sandbox:no-id');
    expect(seen.status).toBe(success);
    expect([seen.json.id, seen.json.url, seen.json.data?.id]).toEqual([undefined, undefined, undefined]);
    expect(await only(account)).toEqual(['publish', 'no_proof', 'no-id']);
  });

  test(`${name} › late gives the right answer after its time`, async () => {
    const account = await played.account(name);
    const started = Date.now();
    const seen = await post(name, account, 'Hello sandbox:late=1');
    expect(seen.status).toBe(success);
    expect(Date.now() - started).toBeGreaterThanOrEqual(990);
    expect(await only(account)).toEqual(['publish', 'late', 'late=1']);
  });

  test(`${name} › redirect points to a path that would publish, and following it is in the ledger`, async () => {
    const account = await played.account(name);
    const seen = await post(name, account, 'Hello sandbox:redirect');
    expect(seen.status).toBe(307);
    expect(await only(account)).toEqual(['request', 'redirected', 'redirect']);
    const followed = await call(played.url + seen.headers.location, { method: 'POST', json: { [PLATFORMS[name].field]: 'Hello sandbox:redirect' }, headers: as(account) });
    expect(followed.status).toBe(success);
    expect((await ledger(account)).map((entry) => [entry.kind, entry.word])).toEqual([['request', 'redirect'], ['publish', 'redirect']]);
  });

  test(`${name} › rate-limit waits as told and only once, rate-limit-always every time`, async () => {
    const account = await played.account(name);
    const before = Date.now();
    const seen = await post(name, account, 'Hello sandbox:rate-limit=7');
    const reset = seen.headers['x-rate-limit-reset'] ?? seen.headers['x-ratelimit-reset']!;
    const resetAt = name === 'twitter' ? Number(reset) * 1_000 : Date.parse(reset);
    expect(seen.status).toBe(429);
    // Both platforms tell it in whole seconds or finer.
    expect(resetAt).toBeGreaterThan(before + 6_000);
    expect(resetAt).toBeLessThanOrEqual(Date.now() + 8_000);
    expect((await post(name, account, 'Hello sandbox:rate-limit=7')).status).toBe(success);
    const always = 'Hello sandbox:rate-limit-always';
    expect([(await post(name, account, always)).status, (await post(name, account, always)).status]).toEqual([429, 429]);
    expect((await ledger(account)).map((entry) => entry.answered)).toEqual(['rate_limited', 'success', 'rate_limited', 'rate_limited']);
  });

  test(`${name} › refuse, duplicate and expired do nothing and name their reason`, async () => {
    const account = await played.account(name);
    const statuses = [];
    for (const word of ['refuse', 'refuse=too-long', 'refuse=media', 'refuse=permission', 'refuse=quota', 'refuse=restricted', 'refuse=gone', 'refuse=other', 'duplicate', 'expired']) {
      const seen = await post(name, account, `Hello [[sandbox:${word}]]`);
      expect(typeof seen.json).toBe('object');
      statuses.push(seen.status);
    }
    expect(statuses).toEqual(name === 'twitter' ? [403, 400, 400, 403, 429, 403, 404, 400, 403, 401] : [422, 422, 422, 403, 429, 403, 404, 403, 422, 401]);
    expect((await ledger(account)).every((entry) => entry.kind === 'request')).toBe(true);
    expect(await count(name, account)).toBe(0);
  });

  test(`${name} › a word acts on the first request of its step and object, and again for another operation`, async () => {
    const account = await played.account(name);
    const [one, two] = [newId('operation'), newId('operation')];
    const text = 'Hello sandbox:500-before';
    expect((await post(name, account, text, trace(one))).status).toBe(500);
    expect((await post(name, account, text, trace(one))).status).toBe(success);
    expect((await post(name, account, text, trace(two))).status).toBe(500);
    expect((await post(name, account, text, trace(two, 'first_comment'))).status).toBe(success);
  });

  test(`${name} › words for other platforms and steps are plain text`, async () => {
    const account = await played.account(name);
    const other = name === 'twitter' ? 'mastodon' : 'twitter';
    expect((await post(name, account, `Hello [[sandbox:${other}:500-before]] sandbox:hang@media_upload_1`, trace(newId('operation')))).status).toBe(success);
  });

  test(`${name} › hide-listing: lists that would hold it fail, whether it was done or not`, async () => {
    for (const word of ['drop-after', 'drop-before']) {
      const account = await played.account(name);
      await raw(name, account, `Hello sandbox:${word} sandbox:hide-listing`);
      expect((await listed(name, account)).status).toBe(503);
      expect((await ledger(account)).map((entry) => entry.kind)).toEqual([word === 'drop-after' ? 'publish' : 'request']);
    }
  });

  test(`${name} › late-listing: lists are complete without it until its time`, async () => {
    const account = await played.account(name);
    await post(name, account, 'Hello sandbox:late-listing=1');
    expect(await count(name, account)).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await count(name, account)).toBe(1);
  });

  test(`${name} › vanish: it is removed after its time, with a row of its own`, async () => {
    const account = await played.account(name);
    await post(name, account, 'Hello sandbox:vanish=1', trace(newId('operation')));
    expect(await count(name, account)).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(await count(name, account)).toBe(0);
    const entries = (await played.admin('GET', `/admin/ledger?organization_id=${account.organization}`)).json.entries;
    expect(entries.map((entry: any) => [entry.kind, entry.word, entry.double])).toEqual([['publish', 'vanish=1', false], ['remove', 'vanish', false]]);
    expect(entries[0].operation_id).toBe(entries[1].operation_id);
  });

  test.each([
    ['token_revoked', 401], ['scopes_missing', 403], ['suspended', 403], ['rate_limited', 429],
  ])(`${name} › behaviour %s answers %i to every call, and a word on one object wins`, async (behaviour, status) => {
    const account = await played.account(name, { behaviour });
    expect([(await post(name, account, 'Hello')).status, (await listed(name, account)).status]).toEqual([status, status]);
    expect((await post(name, account, 'Hello sandbox:500-after')).status).toBe(500);
    expect((await ledger(account)).map((entry) => entry.kind)).toEqual(['request', 'publish']);
  });

  test(`${name} › behaviours listing_hidden and listing_late act on lists alone, from the next call on`, async () => {
    const account = await played.account(name, { behaviour: 'listing_hidden' });
    expect((await post(name, account, 'Hello')).status).toBe(success);
    expect((await listed(name, account)).status).toBe(503);
    await played.admin('PATCH', `/admin/accounts/${account.id}`, { behaviour: 'listing_late' });
    await post(name, account, 'Second');
    expect(await count(name, account)).toBe(1);
  });
}

test('drop-midway › a long body is cut off at its half, once', async () => {
  const account = await played.account('twitter');
  const operation = newId('operation');
  const long = rawPost('/twitter/api/2/tweets', account, { text: 'Hello sandbox:drop-midway', padding: 'x'.repeat(200_000) }, trace(operation));
  const half = await rawCall(played.port, long.slice(0, Math.floor(long.length * 0.6)), 3_000);
  expect(half.end).toBe('reset');
  // The body has an unknown field, so the repetition shows the validation of the platform.
  expect((await rawCall(played.port, long)).received).toMatch(/^HTTP\/1.1 400 /);
  expect((await ledger(account)).map((entry) => entry.answered)).toEqual(['dropped', 'refused']);
});

test('words › survive a restart: what has acted does not act again', async () => {
  const account = await played.account('twitter');
  const headers = trace(newId('operation'));
  expect((await post('twitter', account, 'Hello sandbox:500-before', headers)).status).toBe(500);
  await played.restart();
  expect((await post('twitter', account, 'Hello sandbox:500-before', headers)).status).toBe(201);
});
