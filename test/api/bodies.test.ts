import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJson } from '../../api/json/scan.ts';
import { startApi, type Answer, type TestApi } from '../support/api.ts';
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

const post = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> => api.send('POST', '/v1/notes', { key, body, headers });
const codeOf = (answer: Answer) => [answer.status, answer.body.error.code];
const issuesOf = (answer: Answer) => answer.body.error.details.issues.map((issue: { code: string; path: unknown[] }) => [issue.code, issue.path.join('.')]);

describe('types and sizes', () => {
  test.each(['application/json', 'APPLICATION/JSON; charset=UTF-8', 'application/vnd.api+json', 'application/json; charset="utf-8"'])('%s is read', async (type) => {
    expect((await post('{"text":"a"}', { 'content-type': type })).status).toBe(201);
  });

  test.each(['text/plain', 'application/xml', 'application/json; charset=latin1', 'multipart/form-data; boundary=x', 'json', '+json', ''])('the type "%s" is 415', async (type) => {
    const lines = ['POST /v1/notes HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, ...(type === '' ? [] : [`Content-Type: ${type}`]), 'Content-Length: 12'];
    const answer = await sendRaw(api.port, `${lines.join('\r\n')}\r\n\r\n{"text":"a"}`);
    expect(answer.status).toBe(415);
    expect(answer.text).toContain('UNSUPPORTED_MEDIA_TYPE');
  });

  test('a compressed body is 415, identity is none', async () => {
    const packed = gzipSync('{"text":"a"}') as unknown as string;
    expect(codeOf(await post(packed, { 'content-encoding': 'gzip' }))).toEqual([415, 'UNSUPPORTED_CONTENT_ENCODING']);
    expect(codeOf(await post(packed, { 'content-encoding': 'identity, gzip' }))).toEqual([415, 'UNSUPPORTED_CONTENT_ENCODING']);
    expect((await post('{"text":"a"}', { 'content-encoding': 'Identity' })).status).toBe(201);
  });

  test('5 MiB are 413, declared or not', async () => {
    const big = `{"text":"${'a'.repeat(5 * 1024 * 1024)}"}`;
    expect(codeOf(await post(big))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
    const head = ['POST /v1/notes HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'].join('\r\n');
    const answer = await sendRaw(api.port, [`${head}\r\n\r\n`, ...Array.from({ length: 80 }, () => chunk), '0\r\n\r\n']);
    expect(answer.status).toBe(413);
    expect(answer.isClosed).toBe(true);
  });

  test('no body is an empty one, whatever the Content-Type says', async () => {
    const answer = await api.send('POST', '/v1/notes', { key, headers: { 'content-type': 'image/png' } });
    expect(issuesOf(answer)).toEqual([['required', 'text']]);
    const head = ['POST /v1/notes HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, 'Content-Type: image/png', 'Transfer-Encoding: chunked'].join('\r\n');
    expect((await sendRaw(api.port, `${head}\r\n\r\n0\r\n\r\n`)).status).toBe(422);
  });

  test('a route without a body takes any object and ignores it, and refuses what is none', async () => {
    expect((await api.send('POST', '/v1/notes/x/poke', { key })).status).toBe(204);
    expect((await api.send('POST', '/v1/notes/x/poke', { key, body: { anything: 1 } })).status).toBe(204);
    expect(issuesOf(await api.send('POST', '/v1/notes/x/poke', { key, body: '[]' }))).toEqual([['invalid_type', '']]);
    expect((await api.send('DELETE', '/v1/notes/x', { key, body: '[]' })).status).toBe(204);
    expect(codeOf(await api.send('DELETE', '/v1/notes/x', { key, body: '{' }))).toEqual([400, 'MALFORMED_JSON']);
  });
});

describe('structure, judged on the raw bytes', () => {
  const nested = (depth: number) => `${'{"map":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;

  test('32 levels are read, 33 and 40 are 400', async () => {
    expect((await post(`{"text":"a","map":${nested(31)}}`)).status).toBe(201);
    for (const depth of [32, 39, 100_000]) {
      const answer = await post(`{"text":"a","map":${nested(depth)}}`);
      expect([...codeOf(answer), answer.body.error.details.limit]).toEqual([400, 'MALFORMED_JSON', 'depth']);
    }
  });

  test('20,000 values are read, one more is 400', async () => {
    const body = (count: number) => `{"text":"a","map":{"list":[${Array.from({ length: count - 4 }, () => '1').join(',')}]}}`;
    expect((await post(body(20_000))).status).toBe(201);
    const answer = await post(body(20_001));
    expect([...codeOf(answer), answer.body.error.details.limit]).toEqual([400, 'MALFORMED_JSON', 'values']);
  });

  test.each([`{"text":"a","text":"b"}`, `{"text":"a","\\u0074ext":"b"}`, `{"text":"a","map":{"x":{"é":1,"\\u00e9":2}}}`])('a member name given twice is 400: %s', async (body) => {
    const answer = await post(body);
    expect([...codeOf(answer), answer.body.error.details.limit]).toEqual([400, 'MALFORMED_JSON', 'duplicate_key']);
  });

  const faults: [string, number][] = [
    ['{', 1], ['{"text"', 7], ['{"text":}', 8], ['{"text":"a",}', 12], ['{"text":"a"} x', 13], ['{"text":NaN}', 8], ['{"text":01}', 9], ['{"text":1.}', 10], ['{"text":+1}', 8],
    ['{"text":"\t"}', 9], ['{"text":"\\x"}', 10], ['{"text":"\\u12g4"}', 13], ["{'text':1}", 1], ['{"text":tru}', 11], ['/* a */{}', 0], ['[1,]', 3], ['   ', 3], ['nul', 3], ['-', 1], ['1e', 2],
  ];
  test.each(faults)('%s is 400 at byte %i', async (body, offset) => {
    const answer = await post(body);
    expect([...codeOf(answer), answer.body.error.details.offset]).toEqual([400, 'MALFORMED_JSON', offset]);
  });

  test('bytes that are no UTF-8 are 400', async () => {
    expect(codeOf(await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])))).toEqual([400, 'MALFORMED_JSON']);
  });

  test('one leading BOM is skipped', async () => {
    expect((await post(Buffer.from('\ufeff{"text":"a"}'))).status).toBe(201);
    expect(codeOf(await post(Buffer.from('\ufeff\ufeff{"text":"a"}')))).toEqual([400, 'MALFORMED_JSON']);
  });

  test('whatever the scanner takes is what JSON.parse takes', () => {
    const texts = ['{}', '[]', ' [1 , -0, 0.5, 1e5, -1E-5, 12345678901234567890]\n', '"\\ud83d\\ude00 \\"\\\\\\/"', 'true', 'null', '{"a":{"b":[[],{}]},"":0}', '"ü"'];
    for (const text of texts) expect(decodeJson(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  test('a body of almost 4 MiB is read as JSON.parse reads it', () => {
    const text = JSON.stringify({ map: Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`key ${at}`, 'y\né'.repeat(60)])) });
    expect(decodeJson(Buffer.from(text))).toEqual(JSON.parse(text));
  });
});

describe('the tree', () => {
  test.each(['[]', '"x"', '1', 'null', 'true'])('a top level of %s is 422', async (body) => {
    expect(issuesOf(await post(body))).toEqual([['invalid_type', '']]);
  });

  test('__proto__ is an unknown member, also in free-form maps; constructor is an ordinary name', async () => {
    expect(issuesOf(await post('{"text":"a","__proto__":{"x":1}}'))).toEqual([['unrecognized_keys', '__proto__']]);
    expect(issuesOf(await post('{"text":"a","map":{"__proto__":{"x":1},"b":[{"__proto__":1}]}}'))).toEqual([['unrecognized_keys', 'map.b.0.__proto__'], ['unrecognized_keys', 'map.__proto__']]);
    expect((await post('{"text":"a","map":{"constructor":1,"prototype":2}}')).status).toBe(201);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('NUL and half surrogates are invalid strings, in values and in names', async () => {
    expect(issuesOf(await post('{"text":"a\\u0000b"}'))).toEqual([['invalid_string', 'text']]);
    expect(issuesOf(await post('{"text":"a","map":{"x":"\\ud800"}}'))).toEqual([['invalid_string', 'map.x']]);
    expect(issuesOf(await post('{"text":"a","map":{"x\\u0000":1}}'))).toEqual([['invalid_string', 'map.x\0']]);
    expect((await post('{"text":"\\ud83d\\ude00"}')).status).toBe(201);
  });

  test('numbers', async () => {
    expect(issuesOf(await post('{"text":"a","count":1e400}'))).toEqual([['invalid_type', 'count']]);
    expect(issuesOf(await post('{"text":"a","map":{"x":1e400}}'))).toEqual([['invalid_type', 'map.x']]);
    expect(issuesOf(await post('{"text":"a","tags":[{"name":"a","weight":9007199254740993}]}'))).toEqual([['too_big', 'tags.0.weight']]);
    expect(issuesOf(await post('{"text":"a","tags":[{"name":"a","weight":-9007199254740993}]}'))).toEqual([['too_small', 'tags.0.weight']]);
    expect(issuesOf(await post('{"text":"a","count":1.5}'))).toEqual([['invalid_type', 'count']]);
    expect((await post('{"text":"a","count":1.0}')).status).toBe(201);
  });

  test('nothing is coerced', async () => {
    expect(issuesOf(await post({ text: 5, count: '5', color: 1, tags: {} }))).toEqual([['invalid_type', 'text'], ['invalid_type', 'count'], ['invalid_value', 'color'], ['invalid_type', 'tags']]);
    expect(issuesOf(await post({ text: null }))).toEqual([['invalid_type', 'text']]);
    expect((await post({ text: 'a', color: null })).status).toBe(201);
  });

  test('a map name above 255 characters is too big', async () => {
    expect(issuesOf(await post({ text: 'a', map: { ['x'.repeat(256)]: 1 } }))).toEqual([['too_big', `map.${'x'.repeat(254)}…`]]);
  });

  test('lengths count code points', async () => {
    expect((await post({ text: '😀'.repeat(20) })).status).toBe(201);
    expect(issuesOf(await post({ text: '😀'.repeat(21) }))).toEqual([['too_big', 'text']]);
    expect(issuesOf(await post({ text: '' }))).toEqual([['too_small', 'text']]);
  });

  test('issues come in document order, with what was probably meant', async () => {
    const answer = await post({ tagz: 1, tags: [{ nome: 'x' }], colour: 'red', count: 11 });
    expect(issuesOf(answer)).toEqual([['unrecognized_keys', 'tagz'], ['unrecognized_keys', 'tags.0.nome'], ['required', 'tags.0.name'], ['unrecognized_keys', 'colour'], ['too_big', 'count'], ['required', 'text']]);
    const messages = answer.body.error.details.issues.map((issue: { message: string }) => issue.message);
    expect(messages).toEqual(['tagz is not a field of this body; did you mean tags?', 'nome is not a field of tags[0]; did you mean name?', 'tags[0].name is required', 'colour is not a field of this body; did you mean color?', 'count must be at most 10', 'text is required']);
    expect(answer.body.error.details.issue_count).toBe(6);
  });

  test('50 issues are shown, 1,000 are counted, and 20,000 do not break the service', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 19_000 }, (_, at) => [`x${at}`, 1]));
    const answer = await post(unknown);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.issues).toHaveLength(50);
    expect(answer.body.error.details.issue_count).toBe(1000);
  });

  test('a message echoes at most 64 characters', async () => {
    const answer = await post({ text: 'a', ['k'.repeat(200)]: 1 });
    expect(answer.body.error.details.issues[0].message).toBe(`${'k'.repeat(63)}… is not a field of this body`);
  });
});

describe('queries', () => {
  const list = (query: string) => api.send('GET', `/v1/notes?${query}`, { key });

  test('unknown parameters and empty values are as if absent', async () => {
    expect((await list('cursor=&limit=&text=&what=1&what=2&old=')).status).toBe(200);
  });

  test('a known parameter given twice, and values of the wrong form, are 422', async () => {
    expect(issuesOf(await list('limit=1&limit=1'))).toEqual([['invalid_type', 'limit']]);
    expect(issuesOf(await list('limit=0x10'))).toEqual([['invalid_type', 'limit']]);
    expect(issuesOf(await list('limit=101'))).toEqual([['too_big', 'limit']]);
    expect(issuesOf(await list('limit=1.5'))).toEqual([['invalid_type', 'limit']]);
    expect(issuesOf(await list('old=TRUE'))).toEqual([['invalid_type', 'old']]);
    expect(issuesOf(await list('from=2026-01-01'))).toEqual([['invalid_string', 'from']]);
    expect(issuesOf(await list('from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'))).toEqual([['custom', 'to']]);
    expect(issuesOf(await list(`ids=${'a,'.repeat(101)}`))).toEqual([['too_big', 'ids']]);
    expect(issuesOf(await list('text=a%00b'))).toEqual([['invalid_string', 'text']]);
    expect((await list('ids=%20a%20,,b,&old=false&from=2026-01-01t00:00:00.1234567%2B02:00')).status).toBe(200);
  });
});
