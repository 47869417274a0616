import { randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { migratedDatabase, type FreshDatabase } from '../support/database.ts';
import { freePort } from '../support/servers.ts';
import { until } from '../support/until.ts';

const ENTRY = fileURLToPath(new URL('../../api/server.ts', import.meta.url));
const ring = () => `k1:${randomBytes(32).toString('base64')}`;

let database: FreshDatabase;
let port: number;

beforeAll(async () => {
  database = await migratedDatabase();
  port = await freePort();
});
afterAll(() => database.release());

function start(more: NodeJS.ProcessEnv = {}): { child: ChildProcess; output: () => string; exited: Promise<number | null> } {
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url, SANDBOX_SECRET: 'x', ONCEPOST_PORT: String(port), ONCEPOST_PEPPERS: ring(), ONCEPOST_ENCRYPTION_KEYS: ring(), ONCEPOST_CURSOR_KEYS: ring(), ...more };
  const child = spawn(process.execPath, [ENTRY], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let output = '';
  child.stdout!.on('data', (chunk) => (output += String(chunk)));
  child.stderr!.on('data', (chunk) => (output += String(chunk)));
  return { child, output: () => output, exited: new Promise((resolve) => child.once('exit', resolve)) };
}

const answers = async () => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.ok === true;

test('SIGTERM drains and exits 0; the log has one line per request, without URLs and tokens', async () => {
  const { child, output, exited } = start();
  await until('it answers', answers);
  await fetch(`http://127.0.0.1:${port}/v1/accounts?search=secret-word`, { headers: { authorization: 'Bearer svc_live_canary' } });
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
  const lines = output().trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  const line = lines.find((one) => one.route === '/v1/accounts')!;
  expect(line).toMatchObject({ level: 'info', method: 'GET', status: 401, request_id: expect.stringMatching(/^req_/), organization_id: null, ms: expect.any(Number) });
  expect(output()).not.toMatch(/secret-word|canary/);
});

test('during the drain delay it serves and is not ready; a second signal ends it at once', async () => {
  const { child, exited } = start({ DRAIN_DELAY_MS: '20000' });
  await until('it answers', answers);
  child.kill('SIGTERM');
  await until('it is not ready', async () => (await fetch(`http://127.0.0.1:${port}/ready?for=accept`)).status === 503);
  expect(await answers()).toBe(true);
  child.kill('SIGTERM');
  expect(await exited).toBe(1);
});

test('it ends with the process that started it', async () => {
  const { child, exited } = start();
  await until('it answers', answers);
  child.disconnect();
  expect(await exited).toBe(0);
});

test('a port that is taken is an error that names the setting', async () => {
  const first = start();
  await until('it answers', answers);
  const second = start();
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain('ONCEPOST_PORT');
  first.child.kill('SIGTERM');
  expect(await first.exited).toBe(0);
});
