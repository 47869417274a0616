import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BEARER_PREFIXES, newBearer } from '../../infra/crypto/bearer.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { startApi, type Answer, type TestApi } from '../support/api.ts';
import { account, apiKey, organization, workspace } from '../support/factories.ts';
import { until } from '../support/until.ts';
import { noteRoutes } from './notes.ts';

let api: TestApi;
let organizationId: string;

beforeAll(async () => {
  api = await startApi({ routes: noteRoutes });
  organizationId = (await organization(api.infra)).id;
});
afterAll(() => api.close());

const get = (authorization?: string): Promise<Answer> => api.send('GET', '/v1/notes', { headers: authorization === undefined ? {} : { authorization } });
const said = (answer: Answer) => [answer.status, answer.body.error.code, answer.body.error.message];

describe('who asks', () => {
  test.each([undefined, '', 'Basic abc', 'Bearer', 'Bearer  two-blanks', 'Bearer a b', 'Token x'])('%s is no credential', async (header) => {
    const answer = await get(header);
    expect(said(answer)).toEqual([401, 'UNAUTHORIZED', 'Send Authorization: Bearer <API key>.']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  test('a secret of a wrong form is told apart without asking the database', async () => {
    const secret = newBearer(BEARER_PREFIXES.live);
    for (const wrong of ['x', `${secret}x`, secret.slice(0, -1), `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`, `svc_fake_${secret.slice(9)}`]) {
      expect(said(await get(`Bearer ${wrong}`))).toEqual([401, 'UNAUTHORIZED', 'This is not a key of this service; check that it was copied whole.']);
    }
  });

  test('unknown, disabled and foreign secrets get one message', async () => {
    const disabled = await apiKey(api.infra, { organizationId, enabled: false });
    for (const secret of [newBearer(BEARER_PREFIXES.live), newBearer(BEARER_PREFIXES.session), disabled.secret]) {
      expect(said(await get(`Bearer ${secret}`))).toEqual([401, 'UNAUTHORIZED', 'This key is not valid.']);
    }
  });

  test('an expired key is told when it expired', async () => {
    const expired = await apiKey(api.infra, { organizationId, expiresAt: new Date('2026-01-02T03:04:05.678Z') });
    expect(said(await get(`Bearer ${expired.secret}`))).toEqual([401, 'UNAUTHORIZED', 'This key expired at 2026-01-02T03:04:05.678Z.']);
  });

  test('a good key passes, its scheme in any case, and its use is noted', async () => {
    const key = await apiKey(api.infra, { organizationId });
    const answer = await get(`bEARER ${key.secret}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-oncepost-mode')).toBe('test');
    await until('the use is noted', async () => (await keyRow(key.id)).last_used_at !== null);
  });

  test('disabling a key acts on the next request', async () => {
    const key = await apiKey(api.infra, { organizationId });
    expect((await get(`Bearer ${key.secret}`)).status).toBe(200);
    await system('update api_key set enabled = false where id = ?', [key.id]);
    expect((await get(`Bearer ${key.secret}`)).status).toBe(401);
  });

  test('a secret under the old pepper works and moves to the active one', async () => {
    const key = await apiKey(api.infra, { organizationId, pepper: 1 });
    expect((await get(`Bearer ${key.secret}`)).status).toBe(200);
    await until('the digest moved', async () => (await keyRow(key.id)).pepper_id === 'p2');
    expect((await get(`Bearer ${key.secret}`)).status).toBe(200);
  });

  test('a suspended or ending organization is 403 with the reason', async () => {
    for (const [status, reason] of [['suspended', 'organization_suspended'], ['deleting', 'organization_deleting']] as const) {
      const other = await organization(api.infra, { status });
      const answer = await get(`Bearer ${(await apiKey(api.infra, { organizationId: other.id })).secret}`);
      expect([answer.status, answer.body.error.code, answer.body.error.details.reason]).toEqual([403, 'FORBIDDEN', reason]);
    }
  });

  test('no secret stands in the database', async () => {
    const key = await apiKey(api.infra, { organizationId });
    const [row] = await system<{ found: boolean }>(`select exists (select from api_key k where k::text like ?) as found`, [`%${key.secret.slice(9, 40)}%`]);
    expect(row!.found).toBe(false);
  });

  test('guessing from one address ends in 429; good keys from there go on', async () => {
    const other = await startApi({ routes: noteRoutes, databaseUrl: api.databaseUrl });
    const key = await apiKey(other.infra, { organizationId });
    const statuses: number[] = [];
    for (let at = 0; at < 62; at += 1) statuses.push((await other.send('GET', '/v1/notes', { key: 'svc_live_malformed' })).status);
    expect(statuses.slice(0, 60).every((status) => status === 401)).toBe(true);
    expect(statuses.at(-1)).toBe(429);
    const limited = await other.send('GET', '/v1/notes', { key: 'svc_live_malformed' });
    expect(limited.body.error.details).toEqual({ limit: 'address', per_minute: 60 });
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    for (let at = 0; at < 70; at += 1) statuses.push((await other.send('GET', '/v1/notes', { key: newBearer(BEARER_PREFIXES.live) })).status);
    expect(statuses.at(-1)).toBe(429);
    expect((await other.send('GET', '/v1/notes', { key: key.secret })).status).toBe(200);
    await other.close();
  });
});

describe('what it may', () => {
  const reasonOf = (answer: Answer) => [answer.status, answer.body.error.code, answer.body.error.details?.reason];

  test('a read-only key may not write, even with a broken body', async () => {
    const key = await apiKey(api.infra, { organizationId, permissions: ['read'] });
    expect(reasonOf(await api.send('POST', '/v1/notes', { key: key.secret, body: '{' }))).toEqual([403, 'FORBIDDEN', 'read_only']);
    expect((await api.send('GET', '/v1/notes', { key: key.secret })).status).toBe(200);
  });

  test('a missing permission is named', async () => {
    const key = await apiKey(api.infra, { organizationId, permissions: ['read', 'write'] });
    const answer = await api.send('POST', '/v1/keyed-notes', { key: key.secret });
    expect(reasonOf(answer)).toEqual([403, 'FORBIDDEN', 'missing_permission']);
    expect(answer.body.error.details.required_permission).toBe('reconcile');
  });

  test('modes and whole-organization routes', async () => {
    const live = await apiKey(api.infra, { organizationId, mode: 'live' });
    const test_ = await apiKey(api.infra, { organizationId });
    const one = await workspace(api.infra, { organizationId });
    const scoped = await apiKey(api.infra, { organizationId, workspaceScope: [one.id] });
    expect((await api.send('POST', '/v1/sandbox-notes', { key: live.secret })).body.error.code).toBe('TEST_KEY_REQUIRED');
    expect((await api.send('GET', '/v1/live-notes', { key: test_.secret })).body.error.code).toBe('LIVE_KEY_REQUIRED');
    expect(reasonOf(await api.send('POST', '/v1/sandbox-notes', { key: scoped.secret }))).toEqual([403, 'FORBIDDEN', 'scope_all_required']);
    expect((await api.send('POST', '/v1/sandbox-notes', { key: test_.secret })).status).toBe(204);
  });

  test('a required Idempotency-Key that is missing is 422, a bad one 400, an empty one bad', async () => {
    const key = (await apiKey(api.infra, { organizationId })).secret;
    const missing = await api.send('POST', '/v1/keyed-notes', { key });
    expect([missing.status, missing.body.error.details.issues]).toEqual([422, [expect.objectContaining({ code: 'required', path: ['Idempotency-Key'], in: 'header' })]]);
    for (const bad of ['', 'short', 'with blank inside', 'ä-umlaut-key', 'x'.repeat(256)]) {
      const answer = await api.send('POST', '/v1/keyed-notes', { key, headers: { 'Idempotency-Key': bad } });
      expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_IDEMPOTENCY_KEY']);
    }
  });
});

describe('tenancy', () => {
  test('a query outside a scope is refused, and another scope sees no rows', async () => {
    const [mine, theirs] = [await organization(api.infra), await organization(api.infra)];
    await account(api.infra, { organizationId: mine.id });
    const count = 'select count(*)::int as count from account';
    await expect(api.infra.db.em.getConnection().execute(count)).rejects.toThrow(/permission denied|does not exist/);
    const counted = async (organizationId: string, mode: 'live' | 'test') => inScope(api.infra.db, { role: 'tenant', organizationId, mode }, async (tx) => (await tx.execute<{ count: number }[]>(count))[0]!.count);
    expect(await counted(mine.id, 'test')).toBe(1);
    expect(await counted(mine.id, 'live')).toBe(0);
    expect(await counted(theirs.id, 'test')).toBe(0);
  });

  test('a tenant can neither read nor write the limits, nor rows of another organization', async () => {
    const [mine, theirs] = [await organization(api.infra), await organization(api.infra)];
    const scope = { role: 'tenant', organizationId: mine.id, mode: 'test' } as const;
    await expect(inScope(api.infra.db, scope, (tx) => tx.execute('select * from rate_bucket'))).rejects.toThrow(/permission denied/);
    await expect(inScope(api.infra.db, scope, (tx) => tx.execute(`insert into workspace (id, organization_id, name, slug, status, created_at, updated_at) values ('ws_x', ?, 'x', 'x', 'active', now(), now())`, [theirs.id]))).rejects.toThrow(/row-level security/);
  });
});

async function system<T>(sql: string, params: unknown[] = []): Promise<T[]> {
  return inScope(api.infra.db, SYSTEM, (tx) => tx.execute<T[]>(sql, params));
}

async function keyRow(id: string): Promise<{ last_used_at: string | null; pepper_id: string }> {
  const [row] = await system<{ last_used_at: string | null; pepper_id: string }>('select last_used_at, pepper_id from api_key where id = ?', [id]);
  return row!;
}
