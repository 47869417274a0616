import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startApi, type TestApi } from '../support/api.ts';
import { apiKey, type TestKey } from '../support/factories.ts';
import { sendRaw } from '../support/raw-http.ts';
import { noteRoutes } from './notes.ts';

let api: TestApi;
let key: TestKey;

beforeAll(async () => {
  api = await startApi({ routes: noteRoutes, headersMs: 1_000, bodyTimeoutMs: 600 });
  key = await apiKey(api.infra);
});
afterAll(() => api.close());

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const post = (...lines: string[]) => head('POST /v1/notes HTTP/1.1', 'Host: x', `Authorization: Bearer ${key.secret}`, ...lines);

describe('row 1: what is no HTTP is answered 400 without a body, and the connection is closed', () => {
  const broken: [string, () => string][] = [
    ['Content-Length and Transfer-Encoding', () => `${post('Content-Length: 3', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
    ['two Content-Length', () => `${post('Content-Length: 2', 'Content-Length: 3')}{}`],
    ['two equal Content-Length', () => `${post('Content-Length: 2', 'Content-Length: 2')}{}`],
    ['an unknown transfer coding', () => `${post('Transfer-Encoding: gzip')}{}`],
    ['a transfer coding that does not end in chunked', () => `${post('Transfer-Encoding: chunked, gzip')}0\r\n\r\n`],
    ['a Content-Length with a sign', () => `${post('Content-Length: +2')}{}`],
    ['a blank before the colon', () => head('GET /health HTTP/1.1', 'Host : x')],
    ['a folded header', () => head('GET /health HTTP/1.1', 'Host: x', 'X-Fold: a', ' b')],
    ['no Host', () => head('GET /health HTTP/1.1')],
    ['NUL in a header', () => head('GET /health HTTP/1.1', 'Host: x', 'X-Nul: a\0b')],
    ['NUL in the target', () => head('GET /he\0alth HTTP/1.1', 'Host: x')],
    ['no request at all', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ];
  test.each(broken)('%s', async (_name, text) => {
    const answer = await sendRaw(api.port, text());
    expect(answer.status).toBe(400);
    expect(answer.text.split('\r\n\r\n')[1]?.replace(/^0$/, '')).toBe('');
    expect(answer.isClosed).toBe(true);
  });
});

describe('a whole request, and behind it what is none', () => {
  const junk: [string, () => string | Buffer][] = [
    ['a letter', () => 'x'],
    ['the rest of a body that was announced too short', () => '"}'],
    ['NULs', () => Buffer.alloc(64)],
    ['a request with two lengths', () => `${post('Content-Length: 2', 'Content-Length: 3')}{}`],
    ['headers that are too large', () => head('GET /health HTTP/1.1', 'Host: x', `X-Large: ${'x'.repeat(20_000)}`)],
    ['an unknown method', () => head('FETCH /health HTTP/1.1', 'Host: x')],
  ];
  const notes = async () => (await api.send('GET', '/v1/notes?limit=100', { key: key.secret })).body.data.length as number;
  const cases = junk.flatMap(([name, bytes]) => [[`${name}, in the same packet`, true, bytes], [`${name}, in the next`, false, bytes]] as const);
  test.each(cases)('%s: the request gets its own answer, and the connection is closed', async (_name, isSame, bytes) => {
    const before = await notes();
    const body = JSON.stringify({ text: 'a', delay_ms: 100 });
    const whole = Buffer.from(`${post('Content-Type: application/json', `Content-Length: ${body.length}`)}${body}`);
    const behind = Buffer.from(bytes());
    const answer = await sendRaw(api.port, isSame ? Buffer.concat([whole, behind]) : [whole, behind]);
    expect([answer.status, answer.text.split('HTTP/1.1 ').length - 1, answer.isClosed]).toEqual([201, 1, true]);
    expect(await notes()).toBe(before + 1);
  });
});

describe('rows 2 to 8', () => {
  test('row 2: headers above 16 KiB are 431 with the envelope', async () => {
    const answer = await sendRaw(api.port, head('GET /health HTTP/1.1', 'Host: x', `X-Long: ${'a'.repeat(17_000)}`));
    expect(answer.status).toBe(431);
    expect(answer.text).toContain('"code":"HEADERS_TOO_LARGE"');
    expect(answer.text).toMatch(/X-Request-Id: req_[0-9a-f]{32}/);
    expect(answer.isClosed).toBe(true);
  });

  test.each(['Host: y', 'Authorization: Bearer y', 'Content-Type: text/plain', 'Idempotency-Key: another-key'])('row 3: a second %s is 400', async (line) => {
    const answer = await sendRaw(api.port, `${post('Content-Type: application/json', 'Idempotency-Key: some-key-1', line, 'Content-Length: 2')}{}`);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('"code":"BAD_REQUEST"');
  });

  test('row 3: a target that names another host is 400, one that names this host is read', async () => {
    expect((await sendRaw(api.port, head('GET http://evil.example/health HTTP/1.1', 'Host: x'))).status).toBe(400);
    expect((await sendRaw(api.port, head('GET http://x/health HTTP/1.1', 'Host: x'))).status).toBe(200);
  });

  test('row 3: an expectation other than 100-continue is 400', async () => {
    expect((await sendRaw(api.port, `${post('Expect: something', 'Content-Length: 2')}{}`)).status).toBe(400);
  });

  test('row 6: a URL above 8,192 bytes is 414', async () => {
    const answer = await api.send('GET', `/v1/notes?text=${'a'.repeat(8_200)}`);
    expect([answer.status, answer.body.error.code]).toEqual([414, 'URI_TOO_LONG']);
  });

  test('row 7: a preflight is 204 and echoes X- headers', async () => {
    const answer = await api.send('OPTIONS', '/v1/anything', { headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization, x-client-info, evil' } });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-headers')).toMatch(/Authorization.*x-client-info$/);
    expect(answer.headers.get('access-control-max-age')).toBe('86400');
  });

  test.each(['/v1/notes/%', '/v1/notes/%zz', '/v1/notes/%00', '/v1/notes/%ff'])('row 8: the path %s is 400', async (path) => {
    const answer = await sendRaw(api.port, head(`GET ${path} HTTP/1.1`, 'Host: x'));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('"code":"BAD_REQUEST"');
  });
});

describe('time and connections', () => {
  test('headers that do not come are 408', async () => {
    const answer = await sendRaw(api.port, 'GET /health HTTP/1.1\r\nHost: x\r\n');
    expect(answer.status).toBe(408);
    expect(answer.text).toContain('"code":"REQUEST_TIMEOUT"');
  });

  test('a body that does not come is 408, and the connection is closed', async () => {
    const answer = await sendRaw(api.port, `${post('Content-Type: application/json', 'Content-Length: 20')}{"text":`);
    expect(answer.status).toBe(408);
    expect(answer.text).toContain('"code":"REQUEST_TIMEOUT"');
    expect(answer.isClosed).toBe(true);
  });

  test('100 Continue is sent only to requests that passed the guards', async () => {
    const good = await sendRaw(api.port, [post('Content-Type: application/json', 'Expect: 100-continue', 'Content-Length: 13')], { silenceMs: 100 });
    expect(good.text).toContain('HTTP/1.1 100 Continue');
    const bad = await sendRaw(api.port, head('POST /v1/notes HTTP/1.1', 'Host: x', 'Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 13'));
    expect(bad.text).not.toContain('100 Continue');
    expect(bad.status).toBe(401);
  });

  test('a GET with a body is answered without reading it, and closed', async () => {
    const answer = await sendRaw(api.port, `${head('GET /health HTTP/1.1', 'Host: x', 'Content-Length: 500')}x`);
    expect(answer.status).toBe(200);
    expect(answer.isClosed).toBe(true);
  });

  test('an oversized body is refused from its declaration; the answer arrives although the body still does', async () => {
    const answer = await sendRaw(api.port, [post('Content-Type: application/json', 'Content-Length: 5242880'), Buffer.alloc(200_000, 0x20)]);
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('"limit":4194304');
    expect(answer.isClosed).toBe(true);
  });

  test('unauthenticated, the same body is 401', async () => {
    const answer = await sendRaw(api.port, [head('POST /v1/notes HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 5242880'), Buffer.alloc(100_000, 0x20)]);
    expect(answer.status).toBe(401);
  });

  test('two requests on one connection are two answers', async () => {
    const one = head('GET /health HTTP/1.1', 'Host: x');
    const answer = await sendRaw(api.port, one + one);
    expect(answer.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(answer.isClosed).toBe(false);
  });

  test('every answer carries our request id, whatever id the client sends', async () => {
    const answer = await api.send('GET', '/health', { headers: { 'X-Request-Id': 'mine' } });
    expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
  });

  test('security headers are on every answer, and nothing names the software', async () => {
    for (const path of ['/health', '/v1/notes', '/nothing']) {
      const { headers } = await api.send('GET', path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe(`default-src 'none'; frame-ancestors 'none'`);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.has('server') || headers.has('x-powered-by')).toBe(false);
    }
  });
});
