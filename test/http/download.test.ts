import { afterEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestListener } from 'node:http';
import { createOutbound } from '../../infra/http/outbound.ts';
import type { DownloadOptions } from '../../infra/http/download.ts';
import { httpServer } from './servers.ts';

const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function fetching(listener: RequestListener, more: Partial<DownloadOptions> = {}, path = '/file') {
  const server = await httpServer(listener);
  const out = createOutbound({ allow: [server.pair], blocked: [], connectTimeoutMs: 1_000 });
  open.push(out, server);
  const chunks: Buffer[] = [];
  const sink = (chunk: Buffer) => void chunks.push(chunk);
  const done = await out.download(`${server.url}${path}`, { reach: { kind: 'user' }, maxBytes: 1_000_000, deadline: new Date(Date.now() + 2_000), sink, ...more });
  return { done, body: Buffer.concat(chunks) };
}

test('a file streams to the sink, which sets the pace', async () => {
  let inSink = 0;
  let bytes = 0;
  const sink = async (chunk: Buffer) => {
    expect(++inSink).toBe(1);
    await sleep(2);
    bytes += chunk.length;
    inSink--;
  };
  const { done } = await fetching((_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(500_000)), { sink });
  expect([done.status, done.contentType, done.bytes, bytes, done.redirects]).toEqual([200, 'image/png', 500_000, 500_000, 0]);
});

test('three redirects are followed, a fourth is not', async () => {
  const listener: RequestListener = (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('file');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  };
  const { done, body } = await fetching(listener, {}, '/3');
  expect([done.redirects, body.toString()]).toEqual([3, 'file']);
  await expect(fetching(listener, {}, '/4')).rejects.toMatchObject({ error: 'redirect' });
});

test('a file over the limit ends the download, announced or not', async () => {
  await expect(fetching((_request, response) => response.writeHead(200, { 'content-length': '2000000' }).write('x'))).rejects.toMatchObject({ error: 'too_large' });
  await expect(fetching((_request, response) => response.end(Buffer.alloc(1_000_001)))).rejects.toMatchObject({ error: 'too_large' });
});

test('what is not a 2xx never reaches the sink', async () => {
  const { done, body } = await fetching((_request, response) => response.writeHead(404).end('no such file'));
  expect([done.status, done.bytes, body.length]).toEqual([404, 0, 0]);
});

test('a packed file is refused, a sink that fails ends it with its own error', async () => {
  await expect(fetching((_request, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('x'))).rejects.toMatchObject({ error: 'malformed' });
  const full = new Error('disk full');
  await expect(fetching((_request, response) => response.end('x'), { sink: () => Promise.reject(full) })).rejects.toBe(full);
});
