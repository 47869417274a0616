import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../infra/contract/ids.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { account, apiKey, organization, workspace, type TestKey } from '../../support/factories.ts';
import { sendingAttempt, settleAttempt, unknownAttempt, type Attempt } from '../../support/operations.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.now();
const ago = (hours: number) => new Date(NOW - hours * HOUR_MS);

let api: TestApi;
let key: TestKey;
let brand: string;
let twitter: Account;
/** Oldest first: succeeded (5 h), unknown (4 h, since 1 h), unknown (3 h, since 3 h) in a workspace on mastodon, sending (2 h). */
let made: Attempt[];

beforeAll(async () => {
  api = await startApi({ env: { TEMPORAL_UI_URL: 'http://localhost:8233' } });
  const { id: organizationId } = await organization(api.infra);
  key = await apiKey(api.infra, { organizationId });
  brand = (await workspace(api.infra, { organizationId })).id;
  twitter = await account(api.infra, { organizationId });
  const mastodon = await account(api.infra, { organizationId, platform: 'mastodon', workspaceId: brand });
  const succeeded = await sendingAttempt(api.infra, { account: twitter, at: ago(5) });
  await settleAttempt(api.infra, succeeded, { kind: 'succeeded', proof: { platformPostId: '1', url: 'https://x.com/a/status/1' } });
  made = [
    succeeded,
    await unknownAttempt(api.infra, { account: twitter, at: ago(4), more: { unknownSince: ago(1), nextProbeAt: null, probing: 'exhausted' } }),
    await unknownAttempt(api.infra, { account: mastodon, at: ago(3) }),
    await sendingAttempt(api.infra, { account: twitter, at: ago(2) }),
  ];
});
afterAll(() => api.close());

const get = (path: string, secret = key.secret) => api.send('GET', path, { key: secret });
const idsOf = (...indexes: number[]) => indexes.map((index) => made[index]!.operation.id);
async function found(query: string): Promise<string[]> {
  const { status, body } = await get(`/v1/operations?${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data.map((one: any) => one.id);
}

describe('GET /v1/operations', () => {
  test.each<[string, () => string, number[]]>([
    ['newest first', () => '', [3, 2, 1, 0]],
    ['status', () => 'status=unknown,sending', [3, 2, 1]],
    ['kind', () => 'kind=unpublish', []],
    ['platform', () => 'platform=mastodon', [2]],
    ['account_id', () => `account_id=${twitter.id}`, [3, 1, 0]],
    ['an unknown account', () => `account_id=${newId('account')}`, []],
    ['workspace_id', () => `workspace_id=${brand}`, [2]],
    ['post_id', () => `post_id=${made[1]!.post.id}`, [1]],
    ['target_id', () => `target_id=${made[0]!.target.id}`, [0]],
    ['subject_id', () => `subject_id=${made[0]!.target.id}`, [0]],
    ['settled_by', () => 'settled_by=answer', [0]],
    ['probing', () => 'probing=exhausted', [1]],
    ['older_than compares created_at', () => 'older_than=150m', [2, 1, 0]],
    ['older_than of unknown ones compares unknown_since', () => 'status=unknown&older_than=2h', [2]],
    ['older_than a date-time', () => `older_than=${ago(3.5).toISOString()}`, [1, 0]],
    ['oldest first', () => 'sort=oldest', [0, 1, 2, 3]],
    ['oldest unknown first, by unknown_since', () => 'sort=oldest&status=unknown', [2, 1]],
    ['from and to', () => `from=${ago(4.5).toISOString()}&to=${ago(2.5).toISOString()}`, [2, 1]],
  ])('%s', async (_name, query, indexes) => {
    expect(await found(query())).toEqual(idsOf(...indexes));
  });

  test.each(['', 'sort=oldest', 'sort=oldest&status=unknown'])('pages by cursor: %s', async (query) => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await get(`/v1/operations?limit=1&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...body.data.map((one: any) => one.id));
      expect(body.has_more).toBe(body.next_cursor !== null);
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    expect(seen).toEqual(await found(query));
  });

  test('a cursor of another list: 400', async () => {
    const { body } = await get('/v1/operations?limit=1');
    expect((await get(`/v1/operations?limit=1&status=unknown&cursor=${body.next_cursor}`)).body.error.code).toBe('INVALID_CURSOR');
  });

  test.each(['status=lost', 'kind=x', 'platform=myspace', 'settled_by=me', 'probing=x', 'sort=x', 'older_than=0h', 'older_than=1w', 'older_than=100000h'])('422: %s', async (query) => {
    const { status, body } = await get(`/v1/operations?${query}`);
    expect([status, body.error.details.issues[0].path[0]]).toEqual([422, query.split('=')[0]]);
  });

  test('steps only when asked for; timeline and evidence never', async () => {
    const [plain] = (await get('/v1/operations?limit=1')).body.data;
    const [full] = (await get('/v1/operations?limit=1&include=steps,nonsense')).body.data;
    expect([plain.steps, full.steps.length, full.timeline, full.evidence]).toEqual([undefined, 1, undefined, undefined]);
  });

  test('shows rows of the granted workspaces; others are hidden', async () => {
    const scoped = await apiKey(api.infra, { organizationId: key.organizationId, workspaceScope: [brand] });
    expect((await get('/v1/operations', scoped.secret)).body.data.map((one: any) => one.id)).toEqual(idsOf(2));
    const other = await workspace(api.infra, { organizationId: key.organizationId });
    expect((await get(`/v1/operations?workspace_id=${other.id}`, scoped.secret)).body.error.code).toBe('WORKSPACE_ACCESS_DENIED');
    expect((await get('/v1/operations?workspace_id=ws_x')).body.error).toMatchObject({ code: 'NOT_FOUND', details: { resource: 'workspace' } });
  });

  test('another organization and the other mode see nothing', async () => {
    const foreign = await apiKey(api.infra);
    const live = await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' });
    for (const { secret } of [foreign, live]) expect((await get('/v1/operations', secret)).body).toEqual({ data: [], next_cursor: null, has_more: false });
  });
});

describe('GET /v1/operations/summary', () => {
  test('counts under the same filters', async () => {
    const { data } = (await get('/v1/operations/summary')).body;
    expect(data).toMatchObject({ total: 4, by_status: { pending: 0, sending: 1, succeeded: 1, failed: 0, unknown: 2 }, truncated: false });
    expect(data.unknown).toEqual({ count: 2, oldest_since: ago(3).toISOString(), by_platform: { ...Object.fromEntries(PLATFORMS.map((one) => [one, 0])), twitter: 1, mastodon: 1 } });
    expect((await get(`/v1/operations/summary?account_id=${twitter.id}&status=unknown&older_than=30m`)).body.data).toMatchObject({ total: 1, unknown: { oldest_since: ago(1).toISOString() } });
    expect((await get('/v1/operations/summary?platform=sms')).body.data).toMatchObject({ total: 0, unknown: { count: 0, oldest_since: null } });
  });
});

describe('GET /v1/operations/{id}', () => {
  test('shows an unknown one in full', async () => {
    const { operation, post, target } = made[2]!;
    const { status, body } = await get(`/v1/operations/${operation.id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: operation.id, kind: 'publish', action: null, status: 'unknown', platform: 'mastodon', workspace_id: brand, subject: { type: 'post_target', id: target.id }, target_id: target.id,
      post_id: post.id, attempt: 1, probing: 'active', verdict: null, settled_by: null, result: null, evidence_count: 1, provider_post_id: null, completed_at: null,
      workflow: { id: `reconcile/${operation.id}`, run_id: null, ui_url: `http://localhost:8233/namespaces/default/workflows/reconcile%2F${operation.id}` },
    });
    expect(body.steps).toMatchObject([{ name: 'publish', effect: 'public_unkeyed', state: 'unknown', progress: 'body_sent', error: { code: 'PROVIDER_OUTCOME_UNKNOWN' } }]);
    expect(body.timeline[0].type).toBe('accepted');
    expect(body.evidence[0]).toMatchObject({ kind: 'request_progress', source: 'sender', data: { transport_error: 'reset' } });
  });

  test('a settled one is driven by the workflow of its post', async () => {
    const { operation, post } = made[0]!;
    expect((await get(`/v1/operations/${operation.id}`)).body).toMatchObject({ status: 'succeeded', provider_post_id: '1', workflow: { id: `post/${post.id}/1` }, completed_at: expect.any(String) });
  });

  test.each(['', '/timeline', '/evidence', '/request', '/verdicts'])('%s: 404 for what is not there, is malformed, or belongs to another organization or mode; 403 for another workspace', async (part) => {
    const { id } = made[0]!.operation;
    const foreign = await apiKey(api.infra);
    const live = await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' });
    const scoped = await apiKey(api.infra, { organizationId: key.organizationId, workspaceScope: [brand] });
    const answers = [await get(`/v1/operations/${newId('operation')}${part}`), await get(`/v1/operations/op_x${part}`), await get(`/v1/operations/${id}${part}`, foreign.secret), await get(`/v1/operations/${id}${part}`, live.secret)];
    for (const { status, body } of answers) expect([status, body.error.code, body.error.details]).toEqual([404, 'NOT_FOUND', { resource: 'operation' }]);
    expect((await get(`/v1/operations/${id}${part}`, scoped.secret)).body.error.code).toBe('WORKSPACE_ACCESS_DENIED');
    expect((await get(`/v1/operations/${made[2]!.operation.id}${part}`, scoped.secret)).status).toBe(200);
  });

  test('timeline, evidence and verdicts page in their order', async () => {
    const { id } = made[2]!.operation;
    const all = (await get(`/v1/operations/${id}/timeline`)).body.data;
    const first = (await get(`/v1/operations/${id}/timeline?limit=2`)).body;
    const second = (await get(`/v1/operations/${id}/timeline?limit=100&cursor=${first.next_cursor}`)).body;
    expect([...first.data, ...second.data]).toEqual(all);
    expect(all.map((one: any) => one.at)).toEqual(all.map((one: any) => one.at).toSorted());
    expect((await get(`/v1/operations/${id}/evidence`)).body).toMatchObject({ data: [{ operation_id: id }], next_cursor: null });
    expect((await get(`/v1/operations/${id}/verdicts`)).body).toEqual({ data: [], next_cursor: null, has_more: false });
  });

  test('/request shows what was frozen for sending', async () => {
    const { operation } = made[0]!;
    expect((await get(`/v1/operations/${operation.id}/request`)).body).toEqual({
      data: { text: 'Hello', media: [{ url: 'https://example.com/a.png', type: 'image' }], options: { reply_settings: 'following' }, target: { platform: 'twitter', account_id: twitter.id, platform_post_id: '1' }, digest: null },
    });
  });
});
