import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Joi from 'joi';
import type { RouteSpec } from '../../api/route.ts';
import { newId } from '../../infra/contract/ids.ts';
import { codeOf, startApi, type Answer, type TestApi } from '../support/api.ts';
import { apiKey } from '../support/factories.ts';
import { formBytes, formType, type SentPart } from '../support/form.ts';
import { sendRaw } from '../support/raw-http.ts';

const FILE_MAX_BYTES = 1_000;
const ENVELOPE_MAX_BYTES = 200_000;

/** A route that only tests have: it says what it was sent. The id tells an execution from a replay. */
const route: RouteSpec = {
  method: 'POST', path: '/v1/uploads', operationId: 'upload', summary: 'A file', tag: 'uploads', permission: 'write',
  query: Joi.object({ label: Joi.string().max(10), strict: Joi.boolean() }), multipart: { fileMaxBytes: FILE_MAX_BYTES }, bodyMaxBytes: ENVELOPE_MAX_BYTES,
  replies: { 201: { description: 'What was sent.', schema: Joi.object({ id: Joi.string(), name: Joi.string().allow(''), type: Joi.string().allow(null), size: Joi.number(), digest: Joi.string(), label: Joi.string().allow(null), strict: Joi.boolean().allow(null) }) } },
  errors: [],
  handler: async ({ file, query }) => ({
    status: 201,
    body: { id: newId('request'), name: file!.name, type: file!.type, size: file!.bytes.length, digest: digestOf(file!.bytes), label: query.label ?? null, strict: query.strict ?? null },
  }),
};

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startApi({ routes: [route], bodyTimeoutMs: 600 });
  key = (await apiKey(api.infra)).secret;
});
afterAll(() => api.close());

interface Sending {
  path?: string;
  type?: string;
  headers?: Record<string, string>;
}

const sendBytes = (body: Buffer, { path = '/v1/uploads', type = formType(), headers = {} }: Sending = {}): Promise<Answer> =>
  api.send('POST', path, { key, body, headers: { 'content-type': type, ...headers } });
const send = (parts: SentPart[], sending?: Sending) => sendBytes(formBytes(parts), sending);
const digestOf = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const file = (more: Partial<SentPart> = {}): SentPart => ({ name: 'file', fileName: 'a.csv', type: 'text/csv', content: 'a,b\r\n1,2\r\n', ...more });

describe('a form that is read', () => {
  test('the file byte for byte, its name and declared type', async () => {
    const bytes = Buffer.from([0, 1, 2, 13, 10, 45, 45, 255, 254, 13, 10]);
    const answer = await send([file({ content: bytes, fileName: 'ü "x".csv'.replaceAll('"', '%22'), type: 'application/octet-stream' })]);
    expect([answer.status, answer.body]).toEqual([201, { id: expect.any(String), name: 'ü "x".csv', type: 'application/octet-stream', size: bytes.length, digest: digestOf(bytes), label: null, strict: null }]);
  });

  test('a file without a type, with a boundary in quotes, a preamble, an epilogue and other header names', async () => {
    const inner = formBytes([file({ headers: 'X-Other: 1\r\ncontent-disposition: form-data; filename=plain.csv; name=file' })], "it's (a) boundary");
    const body = Buffer.concat([Buffer.from('preamble\r\n'), inner, Buffer.from('epilogue')]);
    const answer = await sendBytes(body, { type: `Multipart/Form-Data; charset=utf-8; boundary="it's (a) boundary"` });
    expect([answer.status, answer.body.name, answer.body.type, answer.body.size]).toEqual([201, 'plain.csv', null, 10]);
  });

  test('a name of a path is a name like any other, and no more than 255 characters of it are kept', async () => {
    expect((await send([file({ fileName: '../../etc/passwd' })])).body.name).toBe('../../etc/passwd');
    expect([...(await send([file({ fileName: 'é'.repeat(300) })])).body.name]).toHaveLength(255);
  });

  test('content that looks like the boundary', async () => {
    const content = 'x--a-boundary-of-a-test is no delimiter here\r\n-\r\n--a-boundary-of-a-tes\r\n';
    expect((await send([file({ content })])).body.digest).toBe(digestOf(content));
  });

  test('text parts stand in for parameters, and the query wins', async () => {
    const parts = [file(), { name: 'label', content: 'part' }, { name: 'strict', content: 'true' }, { name: 'unknown', content: 'x' }, { name: 'unknown', content: 'y' }];
    expect((await send(parts)).body).toMatchObject({ label: 'part', strict: true });
    expect((await send(parts, { path: '/v1/uploads?label=query&strict=' })).body).toMatchObject({ label: 'query', strict: true });
    const wrong = await send([file(), { name: 'label', content: 'longer than ten' }, { name: 'strict', content: 'yes' }]);
    expect([...codeOf(wrong), wrong.body.error.details.issues.map((issue: any) => [issue.code, issue.path])]).toEqual([422, 'VALIDATION_ERROR', [['too_big', ['label']], ['invalid_type', ['strict']]]]);
  });

  test('chunked, in small pieces, and after 100 Continue', async () => {
    const body = formBytes([file()]);
    const head = ['POST /v1/uploads HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, `Content-Type: ${formType()}`];
    const chunks = [...body].map((byte) => Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
    const chunked = await sendRaw(api.port, [`${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`, ...chunks, '0\r\n\r\n']);
    expect([chunked.status, chunked.text.includes(`"digest":"${digestOf('a,b\r\n1,2\r\n')}"`)]).toEqual([201, true]);
    const waiting = await sendRaw(api.port, `${[...head, 'Expect: 100-continue', `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n`);
    expect(waiting.text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  });
});

describe('types, encodings and sizes', () => {
  test.each(['application/json', 'multipart/mixed; boundary=x', 'application/x-www-form-urlencoded', 'text/csv', 'multipart/form-data-x; boundary=x'])('the type "%s" is 415', async (type) => {
    expect(codeOf(await sendBytes(formBytes([file()]), { type }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  test('a compressed form is 415, before a byte is read', async () => {
    expect(codeOf(await sendBytes(gzipSync(formBytes([file()])), { headers: { 'content-encoding': 'gzip' } }))).toEqual([415, 'UNSUPPORTED_CONTENT_ENCODING']);
    expect((await send([file()], { headers: { 'content-encoding': 'IDENTITY' } })).status).toBe(201);
  });

  test.each(['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=""', `multipart/form-data; boundary=${'b'.repeat(71)}`])('"%s" has no usable boundary', async (type) => {
    expect(codeOf(await sendBytes(formBytes([file()]), { type }))).toEqual([400, 'MALFORMED_FORM']);
  });

  test('a boundary of 70 characters', async () => {
    const boundary = 'b'.repeat(70);
    expect((await sendBytes(formBytes([file()], boundary), { type: formType(boundary) })).status).toBe(201);
  });

  test('a file of the limit is taken, one byte more is 413', async () => {
    expect((await send([file({ content: 'x'.repeat(FILE_MAX_BYTES) })])).body.size).toBe(FILE_MAX_BYTES);
    const answer = await send([file({ content: 'x'.repeat(FILE_MAX_BYTES + 1) })]);
    expect([...codeOf(answer), answer.body.error.details]).toEqual([413, 'PAYLOAD_TOO_LARGE', { limit: FILE_MAX_BYTES }]);
  });

  test('an envelope of the limit is taken, one byte more is 413, declared or received', async () => {
    const empty = formBytes([file(), { name: 'a', content: '' }, { name: 'b', content: '' }, { name: 'c', content: '' }, { name: 'd', content: '' }]).length;
    const left = ENVELOPE_MAX_BYTES - empty;
    const filled = (size: number) => [file(), { name: 'a', content: 'x'.repeat(65_536) }, { name: 'b', content: 'x'.repeat(65_536) }, { name: 'c', content: 'x'.repeat(65_536) }, { name: 'd', content: 'x'.repeat(size - 3 * 65_536) }];
    expect((await send(filled(left))).status).toBe(201);
    const declared = await send(filled(left + 1));
    expect([...codeOf(declared), declared.body.error.details]).toEqual([413, 'PAYLOAD_TOO_LARGE', { limit: ENVELOPE_MAX_BYTES }]);
    const body = formBytes(filled(left + 1));
    const head = ['POST /v1/uploads HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, `Content-Type: ${formType()}`, 'Transfer-Encoding: chunked'].join('\r\n');
    const received = await sendRaw(api.port, [`${head}\r\n\r\n${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n']);
    expect([received.status, received.isClosed]).toEqual([413, true]);
  });

  const fields = (count: number): SentPart[] => Array.from({ length: count }, (_, at) => ({ name: `f${at}`, content: '' }));
  const many: [string, SentPart[], SentPart[]][] = [
    ['16 fields', [file(), ...fields(16)], [file(), ...fields(17)]],
    ['one file', [file()], [file(), file({ name: 'other' })]],
    ['a name of 100 bytes', [file(), { name: 'é'.repeat(50), content: '' }], [file(), { name: `${'é'.repeat(50)}x`, content: '' }]],
    ['a field of 64 KiB', [file(), { name: 'f', content: 'x'.repeat(65_536) }], [file(), { name: 'f', content: 'x'.repeat(65_537) }]],
    ['headers of 8 KiB', [file({ headers: headersOf(8_192) })], [file({ headers: headersOf(8_193) })]],
  ];
  test.each(many)('%s, and not more', async (_name, within, over) => {
    expect((await send(within)).status).toBe(201);
    expect(codeOf(await send(over))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  test('a hundred thousand parts are refused at once', async () => {
    const parts = Array.from({ length: 2_500 }, () => ({ headers: 'X: 1', content: '' }));
    expect(codeOf(await send(parts))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });
});

/** Headers of a file part that are as long as said, line ends of all lines counted. */
function headersOf(size: number): string {
  const lines = 'Content-Disposition: form-data; name="file"; filename="a"\r\nX-Long: \r\n';
  return `${lines.slice(0, -2)}${'x'.repeat(size - lines.length)}`;
}

describe('a form that cannot be read', () => {
  const whole = formBytes([file()]);
  const broken: [string, Buffer][] = [
    ['cut before its end', whole.subarray(0, -6)], ['cut in the content', whole.subarray(0, 120)], ['cut in the headers', whole.subarray(0, 40)], ['with another boundary', formBytes([file()], 'other')],
    ['that is no form', Buffer.from('{"a":1}')], ['with a part without a name', formBytes([{ content: 'x' }])], ['with an empty name', formBytes([{ name: '', content: 'x' }])],
    ['with a part that is no form-data', formBytes([file({ headers: 'Content-Disposition: attachment; name="file"; filename="x"' })])], ['with a part without headers', formBytes([file({ headers: 'X: 1' })])],
    ['with headers that do not end', Buffer.from('--a-boundary-of-a-test\r\nContent-Disposition: form-data; name="file"\r\n--a-boundary-of-a-test--\r\n')],
    ['with a header twice', formBytes([file({ headers: 'Content-Disposition: form-data; name="file"; filename="x"\r\nContent-Disposition: form-data; name="b"' })])],
    ['with the file twice', formBytes([file(), file({ content: 'other' })])], ['with a field named like the file', formBytes([file(), { name: 'file', content: 'x' }])],
    ['with a parameter twice', formBytes([file(), { name: 'label', content: 'a' }, { name: 'label', content: 'b' }])],
    ['with a parameter that is no UTF-8', formBytes([file(), { name: 'label', content: Buffer.from([0xff]) }])],
  ];
  test.each(broken)('%s is 400', async (_name, bytes) => {
    expect(codeOf(await sendBytes(bytes))).toEqual([400, 'MALFORMED_FORM']);
  });

  const missing: [string, Buffer][] = [
    ['no part', formBytes([])], ['an empty file', formBytes([file({ content: '' })])], ['a field in place of the file', formBytes([{ name: 'file', content: 'a,b' }])], ['another name', formBytes([file({ name: 'File' })])],
  ];
  test.each(missing)('%s is 400 BAD_REQUEST', async (_name, bytes) => {
    expect(codeOf(await sendBytes(bytes))).toEqual([400, 'BAD_REQUEST']);
  });

  test('no body at all is 400 BAD_REQUEST, whatever the type', async () => {
    expect(codeOf(await api.send('POST', '/v1/uploads', { key, headers: { 'content-type': 'image/png' } }))).toEqual([400, 'BAD_REQUEST']);
  });

  test('a sender that stops is 408', async () => {
    const head = ['POST /v1/uploads HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, `Content-Type: ${formType()}`, 'Content-Length: 500'].join('\r\n');
    expect((await sendRaw(api.port, `${head}\r\n\r\n--a-boundary`)).status).toBe(408);
  });

  test('who may not write is told so before the form is looked at', async () => {
    const reader = (await apiKey(api.infra, { permissions: ['read'] })).secret;
    expect((await api.send('POST', '/v1/uploads', { key: reader, body: 'nothing', headers: { 'content-type': 'text/plain' } })).status).toBe(403);
  });
});

describe('one key, one form', () => {
  let turn = 0;
  const keyed = () => `a-form-of-turn-${(turn += 1)}`;
  const replayed = (answer: Answer) => answer.headers.get('idempotency-replayed');

  test('a new boundary, a preamble, chunks and other headers of parts are the same form', async () => {
    const headers = { 'idempotency-key': keyed() };
    const parts = [file(), { name: 'label', content: 'x' }];
    const first = await send(parts, { headers });
    expect([first.status, replayed(first)]).toEqual([201, 'false']);
    const again = await sendBytes(Buffer.concat([Buffer.from('hello\r\n'), formBytes(parts, 'drawn-anew'), Buffer.from('bye')]), { type: formType('drawn-anew'), headers });
    expect([again.status, replayed(again), again.text]).toEqual([201, 'true', first.text]);
    const other = { ...file(), headers: 'Content-Type: text/csv\r\nX-New: 1\r\nContent-Disposition: form-data; name="file"; filename="a.csv"' };
    expect((await send([other, parts[1]!], { headers })).text).toBe(first.text);
  });

  test('anything else is another request', async () => {
    const headers = { 'idempotency-key': keyed() };
    const label = { name: 'label', content: 'x' };
    await send([file(), label], { headers });
    const others: SentPart[][] = [
      [label, file()], [file(), { ...label, content: 'y' }], [file(), { ...label, name: 'labels' }], [file()], [file({ fileName: 'b.csv' }), label], [file({ type: 'text/plain' }), label],
      [{ name: 'file', fileName: 'a.csv', content: file().content }, label], [file({ content: 'a,b\n1,2\n' }), label], [file({ content: '' }), label], [file(), label, { name: 'unknown', content: '' }],
    ];
    for (const parts of others) expect(codeOf(await send(parts, { headers }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(codeOf(await send([file(), label], { headers, path: '/v1/uploads?label=x' }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(replayed(await send([file(), label], { headers }))).toBe('true');
  });

  test('a form that was refused leaves its key free', async () => {
    const headers = { 'idempotency-key': keyed() };
    for (const parts of [[file({ content: '' })], [file(), { name: 'strict', content: '?' }], [file(), file()]]) expect((await send(parts, { headers })).status).toBeGreaterThanOrEqual(400);
    expect(replayed(await send([file()], { headers }))).toBe('false');
  });
});
