import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { apiKey, organization } from '../support/factories.ts';
import { noteRoutes } from './notes.ts';

let api: TestApi;
let second: TestApi;

beforeAll(async () => {
  api = await startApi({ routes: noteRoutes });
  second = await startApi({ routes: noteRoutes, databaseUrl: api.databaseUrl });
});
afterAll(async () => {
  await second.close();
  await api.close();
});

async function keyOf(ratePerMinute: number | null): Promise<{ secret: string; organizationId: string }> {
  return apiKey(api.infra, { organizationId: (await organization(api.infra, { ratePerMinute })).id });
}

describe('rate limits', () => {
  test('off: no headers and no row', async () => {
    const key = await keyOf(null);
    const answer = await api.send('GET', '/v1/notes', { key: key.secret });
    expect([answer.status, answer.headers.get('ratelimit'), answer.headers.get('ratelimit-policy')]).toEqual([200, null, null]);
  });

  test('a full minute may come at once, over two processes; then 429 with the wait', async () => {
    const key = await keyOf(40);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? api : second).send('GET', '/v1/notes', { key: key.secret })));
    const granted = answers.filter((answer) => answer.status === 200).length;
    expect(granted).toBeGreaterThanOrEqual(20);
    expect(granted).toBeLessThanOrEqual(22);
    const refused = answers.find((answer) => answer.status === 429)!;
    expect(refused.body.error.code).toBe('RATE_LIMITED');
    expect(refused.body.error.details).toEqual({ limit: 'key', per_minute: 20 });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('x-should-retry')).toBe('true');
    expect(refused.headers.get('ratelimit-policy')).toBe('"key";q=20;w=60, "organization";q=40;w=60');
    expect(refused.headers.get('ratelimit')).toMatch(/^"key";r=0;t=\d+, "organization";r=\d+;t=\d+$/);
  });

  test('tokens are counted down, and a refused request takes none of the organization', async () => {
    const key = await keyOf(4);
    const left = async () => (await api.send('GET', '/v1/notes', { key: key.secret })).headers.get('ratelimit')!.match(/r=(\d+)/g);
    expect(await left()).toEqual(['r=1', 'r=3']);
    expect(await left()).toEqual(['r=0', 'r=2']);
    expect(await left()).toEqual(['r=0', 'r=2']);
    expect(await left()).toEqual(['r=0', 'r=2']);
  });

  test('two keys share the limit of their organization', async () => {
    const first = await keyOf(4);
    const others = [await apiKey(api.infra, first), await apiKey(api.infra, first)];
    for (const { secret } of [first, first, others[0]!, others[0]!]) expect((await api.send('GET', '/v1/notes', { key: secret })).status).toBe(200);
    const refused = await api.send('GET', '/v1/notes', { key: others[1]!.secret });
    expect([refused.status, refused.body.error.details.limit]).toEqual([429, 'organization']);
  });

  test('requests count whatever their answer; unauthenticated ones do not', async () => {
    const key = await keyOf(6);
    expect((await api.send('POST', '/v1/notes', { key: key.secret, body: '{' })).status).toBe(400);
    expect((await api.send('GET', '/v1/notes/unknown', { key: key.secret })).status).toBe(404);
    expect((await api.send('GET', '/v1/nothing', { key: key.secret })).status).toBe(404);
    expect((await api.send('GET', '/v1/notes', { key: key.secret })).headers.get('ratelimit')).toMatch(/^"key";r=0/);
  });

  test('a token comes back with time', async () => {
    const key = await keyOf(120);
    for (let at = 0; at < 60; at += 1) await api.send('GET', '/v1/notes', { key: key.secret });
    await inScope(api.infra.db, SYSTEM, (tx) => tx.execute('update rate_bucket set full_at = full_at - 5'));
    const answer = await api.send('GET', '/v1/notes', { key: key.secret });
    expect(answer.status).toBe(200);
    expect(Number(/r=(\d+)/.exec(answer.headers.get('ratelimit')!)![1])).toBeGreaterThanOrEqual(4);
  });
});
