import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startApi, type TestApi } from '../support/api.ts';
import { apiKey, organization } from '../support/factories.ts';
import { freePort } from '../support/servers.ts';
import { noteRoutes } from './notes.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi({ routes: noteRoutes, env: { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` } });
});
afterAll(() => api.close());

const statusOf = (body: any, name: string) => body.checks.find((check: { name: string }) => check.name === name)?.status;

describe('health', () => {
  test('GET /health asks nothing', async () => {
    const answer = await api.send('GET', '/health');
    expect([answer.status, answer.body]).toEqual([200, { status: 'ok', version: '1.0.0', uptime_seconds: expect.any(Number) }]);
  });

  test('GET /ready without Temporal is 503, GET /ready?for=accept is 200', async () => {
    const all = await api.send('GET', '/ready');
    expect([all.status, all.headers.get('retry-after'), all.body.status]).toEqual([503, '5', 'not_ready']);
    expect(['database', 'migrations', 'draining', 'outbox', 'clock', 'unknowns'].map((name) => statusOf(all.body, name))).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok']);
    expect(['temporal', 'workers_core', 'workers_providers'].map((name) => statusOf(all.body, name))).toEqual(['fail', 'fail', 'fail']);
    expect(all.text).not.toMatch(/127\.0\.0\.1|ECONN|postgres:/);
    const accept = await api.send('GET', '/ready?for=accept');
    expect([accept.status, accept.body.checks.map((check: { name: string }) => check.name)]).toEqual([200, ['database', 'migrations', 'draining']]);
  });

  test('only GET and HEAD', async () => {
    expect((await api.send('POST', '/health')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});

describe('a process that ends', () => {
  test('is not ready at once, serves for a while, and then refuses without having done anything', async () => {
    const other = await startApi({ routes: noteRoutes, databaseUrl: api.databaseUrl });
    const key = (await apiKey(other.infra, { organizationId: (await organization(other.infra)).id })).secret;
    const slow = other.send('POST', '/v1/notes', { key, body: { text: 'a', delay_ms: 300 } });
    await pause(100);
    other.lifecycle.leave();
    const ready = await other.send('GET', '/ready?for=accept');
    expect([ready.status, statusOf(ready.body, 'draining'), ready.headers.get('connection')]).toEqual([503, 'fail', 'close']);
    expect((await other.send('POST', '/v1/notes', { key, body: { text: 'a' } })).status).toBe(201);
    other.lifecycle.close();
    const refused = await other.send('POST', '/v1/notes', { key, body: { text: 'a' } });
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1', 'true']);
    await other.lifecycle.idle();
    expect((await slow).status).toBe(201);
    await other.close();
  });
});
