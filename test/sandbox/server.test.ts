import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { freePort } from '../support/servers.ts';
import { call } from './played.ts';

const ENTRY = fileURLToPath(new URL('../../providers/sandbox/server.ts', import.meta.url));
const SECRET = randomBytes(16).toString('hex');
let database: FreshDatabase;

beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.release());

interface Started {
  child: ChildProcess;
  output: () => string;
  ended: Promise<[number | null, string | null]>;
}

function start(port: number): Started {
  const ring = `one:${randomBytes(32).toString('base64')}`;
  const child = fork(ENTRY, [], {
    silent: true,
    env: {
      PATH: process.env.PATH, DATABASE_URL: database.url, SANDBOX_SECRET: SECRET, ONCEPOST_SANDBOX_PORT: String(port), ONCEPOST_PEPPERS: ring,
      ONCEPOST_ENCRYPTION_KEYS: ring, ONCEPOST_CURSOR_KEYS: ring,
    },
  });
  let text = '';
  child.stdout!.on('data', (chunk) => (text += chunk));
  child.stderr!.on('data', (chunk) => (text += chunk));
  return { child, output: () => text, ended: once(child, 'exit') as Promise<[number | null, string | null]> };
}

async function whenReady(port: number, started: Started): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const seen = await call(`http://127.0.0.1:${port}/health`).catch(() => null);
    if (seen?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not ready: ${started.output()}`);
}

test('entry › serves, stops on SIGTERM with status 0, and says no secret', async () => {
  const port = await freePort();
  const started = start(port);
  await whenReady(port, started);
  expect((await call(`http://127.0.0.1:${port}/admin/words`, { headers: { authorization: `Bearer ${SECRET}` } })).status).toBe(200);
  started.child.kill('SIGTERM');
  expect(await started.ended).toEqual([0, null]);
  for (const secret of [SECRET, new URL(database.url).password, 'postgres://', 'postgresql://']) expect(started.output()).not.toContain(secret);
});

test('entry › stops when the process that started it goes away', async () => {
  const port = await freePort();
  const started = start(port);
  await whenReady(port, started);
  started.child.disconnect();
  expect(await started.ended).toEqual([0, null]);
});

test('entry › two at once migrate one schema; a taken port is named', async () => {
  const [one, two] = [await freePort(), await freePort()];
  const running = [start(one), start(two)] as const;
  await Promise.all([whenReady(one, running[0]), whenReady(two, running[1])]);
  for (const { child, ended } of running) {
    child.kill('SIGTERM');
    await ended;
  }
  const busy = createServer().listen(one, '127.0.0.1');
  await once(busy, 'listening');
  const refused = start(one);
  expect((await refused.ended)[0]).toBe(1);
  expect(refused.output()).toContain('ONCEPOST_SANDBOX_PORT');
  busy.close();
});
