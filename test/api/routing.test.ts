import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startApi, type TestApi } from '../support/api.ts';
import { apiKey } from '../support/factories.ts';
import { sendRaw } from '../support/raw-http.ts';
import { noteRoutes } from './notes.ts';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startApi({ routes: noteRoutes });
  key = (await apiKey(api.infra)).secret;
});
afterAll(() => api.close());

describe('routes', () => {
  test.each(['/', '/v1', '/v1/nothing', '/v1/notes/', '/v1//notes', '/V1/notes', '/v1/Notes', '/v1/notes%2Flatest', '/v1/notes/a/b'])('%s is 404 without a credential', async (path) => {
    const answer = await api.send('GET', path);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  test('a path that exists with another method is 405 and says which', async () => {
    const answer = await api.send('PUT', '/v1/notes');
    expect([answer.status, answer.body.error.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });

  test.each(['TRACE', 'FOO', 'PROPFIND'])('%s is 405', async (method) => {
    const answer = await sendRaw(api.port, `${method} /v1/notes HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer.status).toBe(405);
    expect(answer.text).toMatch(/\r\nAllow: /i);
    for (const name of ['X-Frame-Options', 'Referrer-Policy', 'Cross-Origin-Opener-Policy', 'Permissions-Policy', 'Content-Security-Policy']) expect(answer.text).toMatch(new RegExp(`\\r\\n${name}: `, 'i'));
  });

  test('CONNECT is 405', async () => {
    expect((await sendRaw(api.port, 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n')).status).toBe(405);
  });

  test('OPTIONS that is no preflight is 204 with Allow', async () => {
    const answer = await api.send('OPTIONS', '/v1/notes');
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
  });

  test('HEAD is answered as GET, without the body', async () => {
    const get = await api.send('GET', '/v1/notes', { key });
    const head = await api.send('HEAD', '/v1/notes', { key });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    expect(head.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('a static segment wins over a parameter', async () => {
    expect((await api.send('GET', '/v1/notes/latest', { key })).body).toEqual({ latest: true });
  });

  test.each(['x', 'ws_', `ws_${'0'.repeat(32)}`, `WS_${'0'.repeat(32)}`, `ws_${'0'.repeat(33)}`, '%F0%9F%98%80', 'a'.repeat(3000)])('the id %s is not found, never malformed', async (id) => {
    const answer = await api.send('GET', `/v1/notes/${id}`, { key });
    expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND']);
  });

  test('long replies are compressed when asked for', async () => {
    const plain = await api.send('GET', '/openapi.json', { headers: { 'accept-encoding': 'identity' } });
    const packed = await api.send('GET', '/openapi.json', { headers: { 'accept-encoding': 'gzip' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.text).toBe(plain.text);
  });

  test('a reply that differs from its schema is a loud 500 in tests', async () => {
    const answer = await api.send('POST', '/v1/notes', { key, body: { text: 'x', act: 'wrong_reply' } });
    expect([answer.status, answer.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(answer.text).not.toContain('secret_column');
  });

  test('what breaks inside is 500 without a word of the cause', async () => {
    const answer = await api.send('POST', '/v1/notes', { key, body: { text: 'x', act: 'break' } });
    expect(answer.status).toBe(500);
    expect(answer.body.error).toEqual({ code: 'INTERNAL_ERROR', message: 'Something failed on our side. Quote the request id.', details: { request_id: answer.headers.get('x-request-id') } });
    expect(answer.headers.get('x-should-retry')).toBe('false');
    const keyed = await api.send('POST', '/v1/notes', { key, body: { text: 'x', act: 'break' }, headers: { 'Idempotency-Key': 'breaks-inside' } });
    expect([keyed.status, keyed.headers.get('x-should-retry')]).toEqual([500, null]);
  });
});
