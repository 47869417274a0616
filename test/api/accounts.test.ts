import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../infra/contract/ids.ts';
import { AccountEntity } from '../../infra/db/entities/account.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { startApi, type Answer, type TestApi } from '../support/api.ts';
import { account, apiKey, organization, workspace } from '../support/factories.ts';

let api: TestApi;
let sandbox: Server;
let told: { method: string; url: string; body: string }[] = [];
let sandboxStatus = 204;
let organizationId: string;
let key: string;

beforeAll(async () => {
  sandbox = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => (body += String(chunk))).on('end', () => {
      told.push({ method: req.method!, url: req.url!, body });
      res.writeHead(sandboxStatus).end();
    });
  });
  await new Promise<void>((resolve) => sandbox.listen(0, '127.0.0.1', () => resolve()));
  api = await startApi({ env: { SANDBOX_URL: `http://127.0.0.1:${(sandbox.address() as AddressInfo).port}` } });
  organizationId = (await organization(api.infra)).id;
  key = (await apiKey(api.infra, { organizationId })).secret;
});
afterAll(async () => {
  await api.close();
  sandbox.close();
});

const list = async (query: string): Promise<Answer> => api.send('GET', `/v1/accounts${query}`, { key });
const names = (answer: Answer) => answer.body.data.map((row: { username: string }) => row.username).toSorted();

describe('GET /v1/accounts', () => {
  beforeAll(async () => {
    const brand = await workspace(api.infra, { organizationId, name: 'Brand' });
    await account(api.infra, { organizationId, username: 'one', displayName: 'Ada 100%_\\', workspaceId: brand.id });
    await account(api.infra, { organizationId, username: 'two', platform: 'mastodon', displayName: 'Bob', displayNameOverride: 'Robert' });
    await account(api.infra, { organizationId, username: 'three', platform: 'mastodon', status: 'reconnect_required', statusReason: 'token_expired' });
    await account(api.infra, { organizationId, username: 'gone', status: 'disconnected', statusReason: 'by_user' });
    await account(api.infra, { organizationId, username: 'live', mode: 'live' });
  });

  test('shows the connected ones of the mode, with their number', async () => {
    const answer = await list('');
    expect(names(answer)).toEqual(['one', 'three', 'two']);
    expect(answer.body).toMatchObject({ total: 3, next_cursor: null, has_more: false });
  });

  test('total counts all pages', async () => {
    const { body } = await list('?limit=1');
    expect([body.data.length, body.total, body.has_more]).toEqual([1, 3, true]);
    expect((await list(`?limit=1&cursor=${body.next_cursor}`)).body.total).toBe(3);
  });

  test('filters', async () => {
    const brand = (await list('?search=one')).body.data[0].workspace;
    expect(brand).toMatchObject({ name: 'Brand' });
    const cases: [string, string[]][] = [
      ['?platform=mastodon', ['three', 'two']], ['?platforms=mastodon,twitter', ['one', 'three', 'two']], ['?status=disconnected', ['gone']],
      ['?status=active,disconnected', ['gone', 'one', 'two']], ['?status=', ['one', 'three', 'two']], ['?status=,', ['one', 'three', 'two']], [`?workspace_id=${brand.id}`, ['one']], ['?ungrouped=true', ['three', 'two']],
      ['?search=ROBERT', ['two']], ['?search=bob', []], ['?search=100%25_', ['one']], ['?search=%25', ['one']], ['?search=%5C', ['one']], ['?search=a_a', []], ['?to=2020-01-01T00:00:00Z', []],
    ];
    for (const [query, expected] of cases) expect([query, names(await list(query))]).toEqual([query, expected]);
    expect((await list('?platform=myspace')).status).toBe(422);
    expect((await list('?status=asleep')).status).toBe(422);
    expect((await list('?workspace_id=nonsense')).status).toBe(404);
  });
});

describe('GET /v1/accounts/{id}', () => {
  test('all fields, and disconnected ones too', async () => {
    const nextAllowedAt = new Date(Date.now() + 3_600_000);
    const row = await account(api.infra, { organizationId, metadata: { verified_type: null }, nextAllowedAt, minGapSeconds: 30, scopes: ['read'] });
    const { body } = await api.send('GET', `/v1/accounts/${row.id}`, { key });
    expect(body).toMatchObject({ id: row.id, platform: 'twitter', status: 'active', status_reason: null, sandbox: true, sandbox_behaviour: 'normal', scopes: ['read'], workspace: null, workspace_id: null, metadata: { verified_type: null } });
    expect(body.pacing).toMatchObject({ min_gap_seconds: 30, daily_budget: null, used_24h: 0, next_allowed_at: nextAllowedAt.toISOString() });
    expect(body.created_at).toBe(body.connected_at);
    const gone = await account(api.infra, { organizationId, status: 'disconnected', statusReason: 'by_user' });
    expect((await api.send('GET', `/v1/accounts/${gone.id}`, { key })).body.status).toBe('disconnected');
  });

  test('a wait that is over is none', async () => {
    const row = await account(api.infra, { organizationId, nextAllowedAt: new Date(Date.now() - 1_000) });
    expect((await api.send('GET', `/v1/accounts/${row.id}`, { key })).body.pacing.next_allowed_at).toBeNull();
  });

  test('an account of the other mode does not exist', async () => {
    const live = await account(api.infra, { organizationId, mode: 'live' });
    const answer = await api.send('GET', `/v1/accounts/${live.id}`, { key });
    expect([answer.status, answer.body.error.code]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });

  test('used_24h counts public sends from their claim, and what was proved not sent gives its unit back', async () => {
    const row = await account(api.infra, { organizationId });
    const recently = new Date(Date.now() - 3_600_000);
    const cases: [string, string, Date | null][] = [
      ['publish', 'succeeded', recently], ['publish', 'unknown', recently], ['cross_post', 'sending', recently], ['publish', 'failed', recently],
      ['publish', 'pending', null], ['published_edit', 'succeeded', recently], ['publish', 'succeeded', new Date(Date.now() - 90_000_000)],
    ];
    for (const [kind, status, claimedAt] of cases) await operation({ accountId: row.id, kind, status, claimedAt });
    expect((await api.send('GET', `/v1/accounts/${row.id}`, { key })).body.pacing.used_24h).toBe(3);
  });
});

describe('PATCH /v1/accounts/{id}', () => {
  const patch = (id: string, body: unknown, secret = key) => api.send('PATCH', `/v1/accounts/${id}`, { key: secret, body });

  test('a behaviour is told to the sandbox, and cached facts are forgotten', async () => {
    const row = await account(api.infra, { organizationId, facts: { version: '4' }, factsAt: new Date() });
    told = [];
    const answer = await patch(row.id, { sandbox_behaviour: 'ignores_idempotency' });
    expect([answer.status, answer.body.sandbox_behaviour]).toEqual([200, 'ignores_idempotency']);
    expect(told).toEqual([{ method: 'PATCH', url: `/admin/accounts/${row.id}`, body: '{"behaviour":"ignores_idempotency"}' }]);
    const [stored] = await inScope(api.infra.db, SYSTEM, (tx) => tx.find(AccountEntity, { id: row.id }));
    expect(stored!.factsAt).toBeNull();
  });

  test('{} changes nothing, not even updated_at', async () => {
    const row = await account(api.infra, { organizationId });
    const answer = await patch(row.id, {});
    expect([answer.status, answer.body.updated_at]).toEqual([200, row.updatedAt.toISOString()]);
  });

  test('when the sandbox is away nothing is stored', async () => {
    const row = await account(api.infra, { organizationId });
    sandboxStatus = 500;
    const answer = await patch(row.id, { sandbox_behaviour: 'suspended' });
    sandboxStatus = 204;
    expect([answer.status, answer.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect((await api.send('GET', `/v1/accounts/${row.id}`, { key })).body.sandbox_behaviour).toBe('normal');
  });

  test('refusals', async () => {
    const [live, gone, mine] = [await account(api.infra, { organizationId, mode: 'live' }), await account(api.infra, { organizationId, status: 'disconnected', statusReason: 'by_user' }), await account(api.infra, { organizationId })];
    const liveKey = (await apiKey(api.infra, { organizationId, mode: 'live' })).secret;
    const codes = async (answer: Promise<Answer>) => [(await answer).status, (await answer).body.error.code, (await answer).body.error.details?.issues?.[0]?.code];
    expect(await codes(patch(live.id, { sandbox_behaviour: 'normal' }, liveKey))).toEqual([422, 'VALIDATION_ERROR', 'custom']);
    expect(await codes(patch(gone.id, { sandbox_behaviour: 'normal' }))).toEqual([409, 'ACCOUNT_DISCONNECTED', undefined]);
    expect(await codes(patch(mine.id, { sandbox_behaviour: 'fast' }))).toEqual([422, 'VALIDATION_ERROR', 'invalid_value']);
    expect(await codes(patch(mine.id, { sandbox_behaviour: null }))).toEqual([422, 'VALIDATION_ERROR', 'invalid_value']);
    expect(await codes(patch(mine.id, { id: 'x' }))).toEqual([422, 'VALIDATION_ERROR', 'unrecognized_keys']);
    expect(await codes(patch('acc_unknown', {}))).toEqual([404, 'ACCOUNT_NOT_FOUND', undefined]);
  });
});

async function operation(row: { accountId: string; kind: string; status: string; claimedAt: Date | null }): Promise<void> {
  const id = newId('operation');
  const isSettled = row.status === 'succeeded' || row.status === 'failed';
  await inScope(api.infra.db, SYSTEM, (tx) => tx.execute(
    `insert into operation (id, organization_id, mode, kind, status, revision, platform, account_id, subject_type, subject_id, attempt, recipient, object_key, partial, warnings,
       claim_token, claim_deadline, claimed_at, failures_in_a_row, refreshes, probe_count, probing, absent_reads, settled_by, workflow_id, created_by, event_seq, created_at, began_at, updated_at)
     values (?, ?, 'test', ?, ?, 1, 'twitter', ?, 'target', ?, 1, '', ?, false, '[]', ?, ?, ?, 0, 0, 0, 'none', 0, ?, 'w', '{}', 0, now(), now(), now())`,
    [id, organizationId, row.kind, row.status, row.accountId, id, id, row.status === 'sending' ? 'token' : null, row.status === 'sending' ? new Date() : null, row.claimedAt, isSettled ? 'answer' : null],
  ));
}
