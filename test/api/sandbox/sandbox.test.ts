import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../../infra/contract/ids.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { AccountEntity } from '../../../infra/db/entities/account.entity.ts';
import { OperationEntity } from '../../../infra/db/entities/operation.entity.ts';
import { inScope, SYSTEM, tenant } from '../../../infra/db/tenant.ts';
import { lockPost } from '../../../infra/ledger/post-state.ts';
import { openPublish } from '../../../infra/ledger/open.ts';
import { startApi } from '../../support/api.ts';
import { apiKey, organization, workspace, type TestKey } from '../../support/factories.ts';
import { settleAttempt, unknownAttempt, type Attempt } from '../../support/operations.ts';
import { startPlayedApi, type Played, type PlayedApi } from './played-api.ts';

let api: PlayedApi;
let key: TestKey;
let played: Played;

beforeAll(async () => {
  api = await startPlayedApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  const { id: organizationId } = await organization(api.infra);
  key = await apiKey(api.infra, { organizationId });
  played = await api.play({ organizationId });
});

const get = (path: string, secret = key.secret) => api.send('GET', path, { key: secret });
const ledger = async (query = '') => (await get(`/v1/sandbox/ledger?${query}`)).body.data;
const summary = async (query = '') => (await get(`/v1/sandbox/ledger/summary?${query}`)).body.data;

/** A later attempt of the same target, as an explicit retry opens it. */
async function retryOf(attempt: Attempt): Promise<string> {
  return inScope(api.infra.db, tenant(attempt.operation), async (tx) => {
    const state = (await lockPost(tx, attempt.post.id))!;
    const { id } = openPublish(tx, { post: state.post, target: state.targets[0]!, actor: { type: 'system', id: null }, requestId: null, now: new Date() });
    await tx.flush();
    return id;
  });
}

describe('GET /v1/sandbox/ledger', () => {
  test('oldest first, with post and target resolved; what did nothing only when asked for', async () => {
    const attempt = await unknownAttempt(api.infra, { account: played.account });
    const { id } = await api.tweet(played, 'first', attempt.operation.id);
    await api.tweet(played, 'second sandbox:refuse');
    await api.tweet(played, 'third');
    const entries = await ledger();
    expect(entries.map((entry: any) => entry.text)).toEqual(['first', 'third']);
    expect(entries[0]).toMatchObject({
      platform: 'twitter', account_id: played.account.id, kind: 'publish', platform_post_id: id, post_id: attempt.post.id, target_id: attempt.target.id, operation_id: attempt.operation.id,
      step: 'publish', attempt: 1, double: false, answered: 'success', epoch: 1,
    });
    expect(entries[1]).toMatchObject({ post_id: null, target_id: null, operation_id: null });
    expect((await ledger('include=requests')).map((entry: any) => entry.kind)).toEqual(['publish', 'request', 'publish']);
    expect((await ledger('kind=request'))[0]).toMatchObject({ text: null, answered: 'refused', word: expect.stringMatching(/refuse$/) });
    expect((await get(`/v1/sandbox/ledger/${entries[0].id}`)).body).toEqual(entries[0]);
  });

  test('filters', async () => {
    const attempt = await unknownAttempt(api.infra, { account: played.account });
    const other = await api.play({ organizationId: key.organizationId });
    await api.tweet(played, 'first', attempt.operation.id);
    const { id } = await api.tweet(other, 'the second');
    const texts = async (query: string) => (await ledger(query)).map((entry: any) => entry.text);
    expect(await texts(`account_id=${other.account.id}`)).toEqual(['the second']);
    expect(await texts('platform=mastodon')).toEqual([]);
    expect(await texts(`post_id=${attempt.post.id}`)).toEqual(['first']);
    expect(await texts(`target_id=${attempt.target.id}&operation_id=${attempt.operation.id}`)).toEqual(['first']);
    expect(await texts(`target_id=${newId('target')}`)).toEqual([]);
    expect(await texts(`operation_id=${attempt.operation.id}`)).toEqual(['first']);
    expect(await texts(`object_id=${id}`)).toEqual(['the second']);
    expect(await texts('text=second')).toEqual(['the second']);
    expect(await texts('epoch=7')).toEqual([]);
    expect(await texts(`from=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}`)).toEqual([]);
    expect(await texts(`to=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}`)).toEqual(['first', 'the second']);
    expect((await get('/v1/sandbox/ledger?kind=party&epoch=x&platform=myspace')).body.error.details.issues.map((issue: any) => issue.path[0]).toSorted()).toEqual(['epoch', 'kind', 'platform']);
  });

  test('pages by cursor', async () => {
    for (const text of ['a', 'b', 'c']) await api.tweet(played, text);
    const first = (await get('/v1/sandbox/ledger?limit=2')).body;
    const second = (await get(`/v1/sandbox/ledger?limit=2&cursor=${first.next_cursor}`)).body;
    expect([first.has_more, second.has_more, ...first.data, ...second.data].map((one) => one.text ?? one)).toEqual([true, false, 'a', 'b', 'c']);
  });

  test('another organization sees nothing of it; a live key is refused; a scoped one sees its workspaces', async () => {
    await api.tweet(played, 'mine');
    const [entry] = await ledger();
    const foreign = await apiKey(api.infra);
    expect((await get('/v1/sandbox/ledger', foreign.secret)).body.data).toEqual([]);
    expect((await get(`/v1/sandbox/ledger/${entry.id}`, foreign.secret)).body.error).toMatchObject({ code: 'NOT_FOUND', details: { resource: 'sandbox_entry' } });
    const live = await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' });
    for (const path of ['ledger', 'ledger/summary', `ledger/${entry.id}`, 'objects']) expect((await get(`/v1/sandbox/${path}`, live.secret)).body.error.code).toBe('TEST_KEY_REQUIRED');
    const { id: workspaceId } = await workspace(api.infra, { organizationId: key.organizationId });
    const brand = await api.play({ organizationId: key.organizationId, workspaceId });
    await api.tweet(brand, 'of the brand');
    const scoped = await apiKey(api.infra, { organizationId: key.organizationId, workspaceScope: [workspaceId] });
    expect((await get('/v1/sandbox/ledger', scoped.secret)).body.data.map((one: any) => one.text)).toEqual(['of the brand']);
    expect((await get('/v1/sandbox/ledger/summary', scoped.secret)).body.data.entries).toBe(1);
    expect((await get(`/v1/sandbox/ledger/${entry.id}`, scoped.secret)).body.error.code).toBe('WORKSPACE_ACCESS_DENIED');
  });
});

describe('doubles', () => {
  test('none: counts objects and targets', async () => {
    const attempt = await unknownAttempt(api.infra, { account: played.account });
    await api.tweet(played, 'once', attempt.operation.id);
    await api.tweet(played, 'refused sandbox:refuse');
    expect(await summary()).toMatchObject({ epoch: 1, entries: 1, objects: 1, targets: 1, doubles: 0, requests: 1, by_platform: { twitter: { objects: 1, doubles: 0 }, mastodon: { objects: 0, doubles: 0 } } });
    expect(Object.keys((await summary()).by_platform)).toHaveLength(PLATFORMS.length);
    expect(await summary(`post_id=${newId('post')}`)).toMatchObject({ epoch: 1, entries: 0, targets: 0, oldest_at: null });
  });

  test('the same operation twice is a double', async () => {
    const attempt = await unknownAttempt(api.infra, { account: played.account });
    for (const text of ['one', 'two']) await api.tweet(played, text, attempt.operation.id);
    expect((await ledger()).map((entry: any) => entry.double)).toEqual([false, true]);
    expect(await summary()).toMatchObject({ objects: 2, targets: 1, doubles: 1, by_platform: { twitter: { doubles: 1 } } });
  });

  test.each([
    ['a proven failure explains a later attempt', false, async (attempt: Attempt) => settleAttempt(api.infra, attempt, { kind: 'failed', error: { code: 'PROVIDER_REJECTED' } })],
    ['a verdict does not', true, async (attempt: Attempt) => inScope(api.infra.db, SYSTEM, (tx) => tx.nativeUpdate(OperationEntity, { id: attempt.operation.id }, { status: 'failed', settledBy: 'verdict' }))],
    ['an unknown outcome does not', true, async () => {}],
  ])('%s', async (_name, isDouble, end) => {
    const attempt = await unknownAttempt(api.infra, { account: played.account });
    await api.tweet(played, 'one', attempt.operation.id);
    await end(attempt);
    const later = await retryOf(attempt);
    await api.tweet(played, 'two', later);
    expect((await ledger()).map((entry: any) => entry.double)).toEqual([false, isDouble]);
    expect((await ledger(`operation_id=${later}`)).map((entry: any) => entry.double)).toEqual([isDouble]);
    expect(await summary(`post_id=${attempt.post.id}`)).toMatchObject({ objects: 2, targets: 1, doubles: isDouble ? 1 : 0, by_platform: { twitter: { objects: 2, doubles: isDouble ? 1 : 0 } } });
  });
});

describe('GET /v1/sandbox/objects', () => {
  test('what is public now, by cursor', async () => {
    for (const text of ['a', 'b', 'c']) await api.tweet(played, text);
    const first = (await get('/v1/sandbox/objects?limit=2')).body;
    const second = (await get(`/v1/sandbox/objects?limit=2&cursor=${first.next_cursor}`)).body;
    expect([...first.data, ...second.data].map((one) => [one.text, one.state, one.account_id])).toEqual(['a', 'b', 'c'].map((text) => [text, 'public', played.account.id]));
    expect((await get('/v1/sandbox/objects?text=b')).body.data).toHaveLength(1);
  });
});

describe('POST /v1/sandbox/reset', () => {
  const reset = (body?: unknown, secret = key.secret) => api.send('POST', '/v1/sandbox/reset', { key: secret, body });
  const behave = (id: string) => inScope(api.infra.db, SYSTEM, (tx) => tx.nativeUpdate(AccountEntity, { id }, { sandboxBehaviour: 'suspended' }));
  const behaviourOf = async (id: string) => (await inScope(api.infra.db, SYSTEM, (tx) => tx.findOneOrFail(AccountEntity, { id }))).sandboxBehaviour;

  test('empties everything, ends behaviours, and keeps the ledger under its old epoch', async () => {
    await api.tweet(played, 'before');
    await behave(played.account.id);
    expect((await reset()).body).toEqual({ epoch: 2, accounts: 1 });
    expect(await behaviourOf(played.account.id)).toBe('normal');
    expect([await ledger(), (await ledger('epoch=all')).length, (await ledger('epoch=1')).length, (await get('/v1/sandbox/objects')).body.data]).toEqual([[], 1, 1, []]);
    expect(await summary()).toMatchObject({ epoch: 2, entries: 0 });
  });

  test('named accounts only', async () => {
    const other = await api.play({ organizationId: key.organizationId });
    await api.tweet(played, 'a');
    await api.tweet(other, 'b');
    await behave(played.account.id);
    expect((await reset({ account_ids: [other.account.id] })).body.accounts).toBe(1);
    expect((await get('/v1/sandbox/objects')).body.data.map((one: any) => one.text)).toEqual(['a']);
    expect(await behaviourOf(played.account.id)).toBe('suspended');
  });

  test('refusals', async () => {
    const foreign = await api.play({ organizationId: (await organization(api.infra)).id });
    expect((await reset({ account_ids: [foreign.account.id] })).body.error).toMatchObject({ code: 'ACCOUNT_NOT_FOUND', details: { id: foreign.account.id } });
    expect((await reset({ account_ids: [] })).status).toBe(422);
    expect((await reset({ accounts: [] })).body.error.details.issues[0].code).toBe('unrecognized_keys');
    const { id: workspaceId } = await workspace(api.infra, { organizationId: key.organizationId });
    const scoped = await apiKey(api.infra, { organizationId: key.organizationId, workspaceScope: [workspaceId] });
    expect((await reset({ account_ids: [played.account.id] }, scoped.secret)).body.error.code).toBe('WORKSPACE_ACCESS_DENIED');
    const reader = await apiKey(api.infra, { organizationId: key.organizationId, permissions: ['read'] });
    expect((await reset({}, reader.secret)).body.error.details.reason).toBe('read_only');
    const live = await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' });
    expect((await reset({}, live.secret)).body.error.code).toBe('TEST_KEY_REQUIRED');
  });
});

describe('GET /v1/sandbox/words', () => {
  test('the closed list, with any key', async () => {
    const live = await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' });
    const { body } = await get('/v1/sandbox/words', live.secret);
    expect(body).toMatchObject({ next_cursor: null, has_more: false });
    expect(body.data.find((word: any) => word.name === 'late').argument).toEqual({ kind: 'integer', min: 1, max: 55, default: 45 });
    expect(body.data.find((word: any) => word.name === 'drop-after')).toMatchObject({ argument: null, description: expect.any(String) });
  });
});

describe('public pages', () => {
  test('shows the post, escaped, to anybody and to no search engine', async () => {
    await api.tweet(played, '<script>alert("1")</script> & more');
    const [{ url }] = await ledger();
    const { status, headers, text } = await api.send('GET', new URL(url).pathname);
    expect([status, headers.get('content-type'), headers.get('x-robots-tag')]).toEqual([200, 'text/html; charset=utf-8', 'noindex']);
    expect(text).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; more');
    expect(text).toContain('Sand &amp; Box');
    expect(text).not.toContain('<script');
    expect(text).toContain('<meta name="robots" content="noindex">');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect((await api.send('HEAD', new URL(url).pathname)).status).toBe(200);
  });

  test.each(['twitter/1', 'twitter/%3Cb%3E', 'myspace/1', 'UPPER/1', 'twitter/..'])('404 page for %s', async (path) => {
    const { status, headers, text } = await api.send('GET', `/sandbox/p/${path.replace('..', '%2e%2e')}`);
    if (path.endsWith('..')) return expect(status).toBe(404);
    expect([status, headers.get('content-type'), text.includes('There is nothing here')]).toEqual([404, 'text/html; charset=utf-8', true]);
    return undefined;
  });

  test('a reset removes the page', async () => {
    await api.tweet(played, 'gone soon');
    const [{ url }] = await ledger();
    await api.send('POST', '/v1/sandbox/reset', { key: key.secret });
    expect((await api.send('GET', new URL(url).pathname)).status).toBe(404);
  });

  test('a verdict takes the address of a public page', async () => {
    const attempt = await unknownAttempt(api.infra, { account: played.account });
    const { id } = await api.tweet(played, 'is there', attempt.operation.id);
    const [{ url }] = await ledger();
    const { status, body } = await api.send('POST', `/v1/operations/${attempt.operation.id}/verdict`, { key: key.secret, body: { outcome: 'published', url, reason: 'There it is.', expected_revision: attempt.operation.revision } });
    expect([status, body.result?.platform_post_id, body.result?.url]).toEqual([200, id, url]);
  });
});

describe('GET /sandbox/samples/{name}', () => {
  test.each([['image.jpg', 'image/jpeg'], ['image-2.jpg', 'image/jpeg'], ['image.png', 'image/png'], ['animation.gif', 'image/gif'], ['video.mp4', 'video/mp4'], ['document.pdf', 'application/pdf'], ['audio.mp3', 'audio/mpeg']])('%s is %s', async (name, type) => {
    const { status, headers, text } = await api.send('GET', `/sandbox/samples/${name}`, { headers: { 'accept-encoding': 'gzip, br' } });
    expect([status, headers.get('content-type'), headers.get('content-encoding'), headers.get('cache-control')]).toEqual([200, type, null, 'public, max-age=86400']);
    expect(text.length).toBeGreaterThan(50);
  });

  test.each(['nothing.jpg', 'image', '..%2fimage.jpg'])('404 for %s', async (name) => {
    const { status, body } = await api.send('GET', `/sandbox/samples/${name}`);
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  });
});

test('the sandbox away: 503 that says when to come again', async () => {
  const alone = await startApi({ env: { SANDBOX_URL: 'http://127.0.0.1:1' } });
  try {
    const { id: organizationId } = await organization(alone.infra);
    const { secret } = await apiKey(alone.infra, { organizationId });
    const asked = [['GET', '/v1/sandbox/ledger'], ['GET', '/v1/sandbox/ledger/summary'], ['GET', '/v1/sandbox/objects'], ['GET', '/v1/sandbox/words'], ['GET', `/v1/sandbox/ledger/${newId('sandboxEntry')}`], ['POST', '/v1/sandbox/reset'], ['GET', '/sandbox/p/twitter/1'], ['GET', '/sandbox/samples/image.jpg']] as const;
    for (const [method, path] of asked) {
      const { status, body, headers } = await alone.send(method, path, { key: secret });
      expect([path, status, body.error.code, headers.get('retry-after'), headers.get('x-should-retry')]).toEqual([path, 503, 'SERVICE_UNAVAILABLE', '2', 'true']);
    }
  } finally {
    await alone.close();
  }
});
