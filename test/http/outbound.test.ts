import { afterEach, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Socket } from 'node:net';
import { createOutbound, type CallOptions, type Outbound } from '../../infra/http/outbound.ts';
import { ClaimLost, TransportFailure, type ProviderRequest } from '../../infra/http/types.ts';
import { httpServer, tcpServer, type TestServer } from './servers.ts';

const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function withServer(make: Promise<TestServer>): Promise<{ server: TestServer; out: Outbound }> {
  const server = await make;
  const out = createOutbound({ allow: [server.pair], blocked: [], connectTimeoutMs: 1_000 });
  open.push(out, server);
  return { server, out };
}

const granted = { claim: () => Promise.resolve(true) };
const inMs = (ms: number) => new Date(Date.now() + ms);
const options = (more: Partial<CallOptions> = {}): CallOptions => ({ deadline: inMs(1_000), reach: { kind: 'platform' }, fresh: granted, ...more });
const post = (url: string, more: Partial<ProviderRequest> = {}): ProviderRequest => ({ method: 'POST', url: `${url}/x?secret=1`, json: { a: 1 }, ...more });

async function failureOf(promise: Promise<unknown>): Promise<TransportFailure> {
  const error = await promise.then(() => null, (error: unknown) => error);
  expect(error).toBeInstanceOf(TransportFailure);
  expect((error as Error).message).not.toMatch(/secret|127\.0|token/);
  return error as TransportFailure;
}

/** Calls once the whole request of `post` has come. */
function whenAsked(socket: Socket, received: () => string, act: () => void): void {
  const check = () => {
    if (!received().endsWith('{"a":1}')) return;
    socket.off('data', check);
    act();
  };
  socket.on('data', check);
}

const ANSWER = 'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{"id":1}';

test('a complete answer comes with a trip that says how far everything went', async () => {
  const { out, server } = await withServer(tcpServer((socket, received) => whenAsked(socket, received, () => socket.write(ANSWER))));
  const { answer, trip } = await out.call(post(server.url), options({ headers: { 'X-Oncepost-Trace': 'op_1;publish;1' } }));
  expect(answer).toMatchObject({ status: 201, contentType: 'application/json', json: { id: 1 } });
  expect(trip.progress).toBe('answered');
  expect(trip.bytesSent).toBe(server.received().length);
  expect(trip.bytesReceived).toBe(ANSWER.length);
  const moments = [trip.connectedAt, trip.headersSentAt, trip.bodySentAt, trip.answerStartedAt, trip.answeredAt].map((moment) => moment?.getTime() ?? Number.NaN);
  expect(moments).toEqual([...moments].sort((a, b) => a - b));
  expect(server.received()).toMatch(/^POST \/x\?secret=1 HTTP\/1\.1\r\n/);
  expect(server.received()).toMatch(/connection: close\r\n/);
  expect(server.received()).toMatch(/accept-encoding: identity\r\n/);
  expect(server.received()).toMatch(/x-oncepost-trace: op_1;publish;1\r\n/);
});

test('a refused connection was not sent and asks for no claim', async () => {
  const { out, server } = await withServer(tcpServer(() => undefined));
  await server.close();
  open.pop();
  let claims = 0;
  const failure = await failureOf(out.call(post(server.url), options({ fresh: { claim: async () => ++claims > 0 } })));
  expect([failure.error, failure.sent, failure.trip.progress, claims]).toEqual(['connect', false, 'connecting', 0]);
});

test('a name that does not resolve was not sent', async () => {
  const out = createOutbound({ allow: [], blocked: [], connectTimeoutMs: 5_000 });
  open.push(out);
  const failure = await failureOf(out.call(post('https://does-not-exist.example'), options({ deadline: inMs(5_000) })));
  expect([failure.error, failure.sent]).toEqual(['dns', false]);
});

test('a reset right after accept, before the claim was granted, was not sent', async () => {
  const { out, server } = await withServer(tcpServer((socket) => socket.resetAndDestroy()));
  const failure = await failureOf(out.call(post(server.url), options({ fresh: { claim: () => sleep(50, true) } })));
  expect([failure.sent, server.received()]).toEqual([false, '']);
});

test('a server that hangs up while we claim gets nothing', async () => {
  const { out, server } = await withServer(tcpServer((socket) => socket.end()));
  const failure = await failureOf(out.call(post(server.url), options({ fresh: { claim: () => sleep(50, true) } })));
  expect([failure.error, failure.sent, server.received()]).toEqual(['closed', false, '']);
});

test('a server that talks before it is asked gets nothing', async () => {
  const { out, server } = await withServer(tcpServer((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')));
  const failure = await failureOf(out.call(post(server.url), options({ fresh: { claim: () => sleep(50, true) } })));
  expect([failure.error, failure.sent, server.received()]).toEqual(['malformed', false, '']);
});

const BROKEN: [string, (socket: Socket) => void, string, string, number | undefined][] = [
  ['RST after the request', (socket) => socket.resetAndDestroy(), 'reset', 'body_sent', undefined],
  ['FIN without an answer', (socket) => socket.end(), 'closed', 'body_sent', undefined],
  ['silence', () => undefined, 'timeout_headers', 'body_sent', undefined],
  ['half a status line', (socket) => socket.end('HTTP/1.1 20'), 'closed', 'body_sent', undefined],
  ['an answer cut by FIN', (socket) => socket.end(ANSWER.slice(0, -4)), 'closed', 'answer_started', 201],
  ['an answer cut by RST', (socket) => socket.write(ANSWER.slice(0, -4), () => setTimeout(() => socket.resetAndDestroy(), 50)), 'reset', 'answer_started', 201],
  ['a closing answer cut by RST', (socket) => socket.write(ANSWER.replace('201 Created\r\n', '201 Created\r\nconnection: close\r\n').slice(0, -4), () => setTimeout(() => socket.resetAndDestroy(), 50)), 'closed', 'answer_started', 201],
  ['an answer that stops in the middle', (socket) => socket.write(ANSWER.slice(0, -4)), 'timeout_body', 'answer_started', 201],
  ['chunks without their end', (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"id\r\n'), 'closed', 'answer_started', 200],
  ['junk', (socket) => socket.write('SSH-2.0-OpenSSH\r\n'), 'malformed', 'body_sent', undefined],
  ['a bare 100 Continue', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 'malformed', 'body_sent', undefined],
  ['an encoding that was not asked for', (socket) => socket.write(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 30\r\n\r\n'), gzipSync('{"id":1}')])), 'malformed', 'answer_started', 200],
];

test.each(BROKEN)('%s after the request: sent, and no answer', async (_name, act, error, progress, status) => {
  const { out, server } = await withServer(tcpServer((socket, received) => whenAsked(socket, received, () => act(socket))));
  const failure = await failureOf(out.call(post(server.url), options({ deadline: inMs(400) })));
  expect([failure.error, failure.sent, failure.trip.progress, failure.partial?.status]).toEqual([error, true, progress, status]);
  await sleep(30);
  expect(server.connections()).toBe(1);
  expect(server.received().match(/POST/g)).toHaveLength(1);
});

test('RST after the headers of a long request: sent', async () => {
  const { out, server } = await withServer(tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
  const failure = await failureOf(out.call(post(server.url, { json: undefined, bytes: { content: Buffer.alloc(20_000_000), contentType: 'video/mp4' } }), options()));
  expect(['reset', 'closed']).toContain(failure.error);
  expect([failure.sent, failure.trip.progress]).toEqual([true, 'headers_sent']);
});

test('an answer over 2 MiB is cut off, one of exactly 2 MiB is not', async () => {
  for (const [bytes, fits] of [[2_097_152, true], [2_097_153, false]] as const) {
    const { out, server } = await withServer(httpServer((_request, response) => response.end(Buffer.alloc(bytes, 97))));
    const call = out.call(post(server.url), options());
    if (fits) expect((await call).answer.body).toHaveLength(bytes);
    else expect(await failureOf(call)).toMatchObject({ error: 'too_large', partial: { status: 200 } });
  }
});

test('a redirect is an answer and nobody follows it', async () => {
  let requests = 0;
  const { out, server } = await withServer(httpServer((_request, response) => {
    requests++;
    response.writeHead(307, { location: '/elsewhere' }).end();
  }));
  const { answer } = await out.call(post(server.url), options());
  expect([answer.status, answer.json, requests]).toEqual([307, undefined, 1]);
});

test('JSON counts as JSON only under its content type', async () => {
  for (const [type, json] of [['application/json; charset=utf-8', { id: 1 }], ['application/problem+json', { id: 1 }], ['text/html', undefined], ['application/jsonp', undefined]] as const) {
    const { out, server } = await withServer(httpServer((_request, response) => response.writeHead(200, { 'content-type': type }).end('{"id":1}')));
    expect((await out.call(post(server.url), options())).answer.json).toEqual(json);
  }
});

test('the server sees no byte before the claim is granted', async () => {
  const { out, server } = await withServer(tcpServer((socket, received) => whenAsked(socket, received, () => socket.write(ANSWER))));
  let seenAtClaim: [number, string] | null = null;
  await out.call(post(server.url), options({ fresh: { claim: async () => {
    await sleep(50);
    seenAtClaim = [server.connections(), server.received()];
    return true;
  } } }));
  expect(seenAtClaim).toEqual([1, '']);
});

test('a lost claim writes nothing', async () => {
  const { out, server } = await withServer(tcpServer(() => undefined));
  await expect(out.call(post(server.url), options({ fresh: { claim: () => Promise.resolve(false) } }))).rejects.toBeInstanceOf(ClaimLost);
  await sleep(30);
  expect([server.connections(), server.received()]).toEqual([1, '']);
});

test('a claim that throws writes nothing, and its error comes out as it was', async () => {
  const { out, server } = await withServer(tcpServer(() => undefined));
  const fault = new Error('database gone');
  await expect(out.call(post(server.url), options({ fresh: { claim: () => Promise.reject(fault) } }))).rejects.toBe(fault);
  expect(server.received()).toBe('');
});

test('a deadline that passes during the claim writes nothing, and the claim has ended when the caller hears of it', async () => {
  const { out, server } = await withServer(tcpServer(() => undefined));
  let ended = false;
  const failure = await failureOf(out.call(post(server.url), options({ deadline: inMs(60), fresh: { claim: async () => {
    await sleep(150);
    ended = true;
    return true;
  } } })));
  expect([failure.error, failure.sent, ended, server.received()]).toEqual(['timeout_connect', false, true, '']);
});

test('the date that a claim returns is the deadline from then on', async () => {
  const { out, server } = await withServer(tcpServer(() => undefined));
  const past = await failureOf(out.call(post(server.url), options({ fresh: { claim: () => Promise.resolve(inMs(-1)) } })));
  expect([past.sent, server.received()]).toEqual([false, '']);
  const from = Date.now();
  const soon = await failureOf(out.call(post(server.url), options({ deadline: inMs(5_000), fresh: { claim: () => Promise.resolve(inMs(100)) } })));
  expect([soon.error, Date.now() - from < 1_000]).toEqual(['timeout_headers', true]);
});

test('a deadline in the past connects nowhere', async () => {
  const { out, server } = await withServer(tcpServer(() => undefined));
  const failure = await failureOf(out.call(post(server.url), options({ deadline: inMs(-1) })));
  expect([failure.sent, failure.trip.progress, server.connections()]).toEqual([false, 'not_started', 0]);
});

test('an abort before the write is not sent, after it is', async () => {
  const { out, server } = await withServer(tcpServer(() => undefined));
  const early = await failureOf(out.call(post(server.url), options({ signal: AbortSignal.timeout(30), fresh: { claim: () => sleep(80, true) } })));
  expect([early.error, early.sent]).toEqual(['aborted', false]);
  const late = await failureOf(out.call(post(server.url), options({ signal: AbortSignal.timeout(80) })));
  expect([late.error, late.sent]).toEqual(['aborted', true]);
});

test('reads share a connection and are observed one by one', async () => {
  const { out, server } = await withServer(httpServer((request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ path: request.url }))));
  const read = (path: string) => out.call({ method: 'GET', url: `${server.url}${path}` }, options({ fresh: undefined }));
  const first = await read('/a');
  // The pool takes a connection back one turn after its answer.
  await sleep(5);
  const second = await read('/longer');
  expect([first.answer.json.path, second.answer.json.path, server.connections()]).toEqual(['/a', '/longer', 1]);
  expect(second.trip.bytesSent).toBe((first.trip.bytesSent ?? 0) + '/longer'.length - '/a'.length);
  const many = await Promise.all(['/1', '/2', '/3'].map(read));
  expect(many.map(({ trip }) => trip.progress)).toEqual(['answered', 'answered', 'answered']);
});

test('a pooled call that never connects ends at its deadline, not sent', async () => {
  const out = createOutbound({ allow: ['192.0.2.1:80'], blocked: [], connectTimeoutMs: 100 });
  open.push(out);
  const failure = await failureOf(out.call({ method: 'GET', url: 'http://192.0.2.1/' }, options({ fresh: undefined })));
  expect([['timeout_connect', 'connect'].includes(failure.error), failure.sent]).toEqual([true, false]);
});

test('no TLS behind https: not sent', async () => {
  const { out, server } = await withServer(tcpServer((socket) => socket.end('nope\r\n')));
  const failure = await failureOf(out.call(post(server.url.replace('http:', 'https:')), options()));
  expect([failure.error, failure.sent]).toEqual(['tls', false]);
});

test('multipart is read piece by piece and has its length', async () => {
  let body = '';
  let length: string | undefined;
  const { out, server } = await withServer(httpServer((request, response) => {
    length = request.headers['content-length'];
    request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
    request.on('end', () => response.end());
  }));
  const file = Buffer.alloc(150_000, 'x');
  const content = { bytes: file.length, read: (from: number, to: number) => Promise.resolve(file.subarray(from, to)) };
  const { trip } = await out.call(post(server.url, { json: undefined, multipart: [{ name: 'description', content: 'a "b"' }, { name: 'file', filename: 'a"\r\n.png', contentType: 'image/png', content }] }), options());
  expect(Number(length)).toBe(body.length);
  expect(body).toContain('name="file"; filename="a%22%0D%0A.png"\r\ncontent-type: image/png\r\n\r\nxxx');
  expect(trip.bytesSent).toBeGreaterThan(150_000);
});
