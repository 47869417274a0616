import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { identityOf, isGoneWithin, refOf } from '../../infra/servers/process-identity.ts';
import { Launch, namesOfLiving, ownPorts, type Ready } from './launch.ts';

const run = promisify(execFile);
/** A cold machine builds the Temporal server first. */
const FIRST_START_MS = 600_000;
const LATER_START_MS = 30_000;
const STOP_MS = 60_000;

describe('npm start', () => {
  let folder: string;
  let dataDir: string;
  let ports: Record<string, string>;
  let first: Ready;
  let postId: string;
  const launches: Launch[] = [];

  function start(env: Record<string, string> = ports, data = dataDir): Launch {
    const launch = new Launch(data, env);
    launches.push(launch);
    return launch;
  }

  async function stop(launch: Launch, signal: NodeJS.Signals): Promise<void> {
    launch.child.kill(signal);
    await launch.exited;
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oncepost-launcher-'));
    dataDir = join(folder, 'data');
    ports = await ownPorts();
  });

  afterAll(async () => {
    for (const launch of launches) if (!launch.hasEnded) await stop(launch, 'SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }, STOP_MS);

  let launch: Launch;

  test('the first start prints the keys and writes ready.json, which only its owner may read', async () => {
    launch = start();
    first = await launch.ready(FIRST_START_MS);
    expect(first).toMatchObject({ api: `http://127.0.0.1:${ports.ONCEPOST_PORT}`, console: null, s3: null, temporal: `127.0.0.1:${ports.ONCEPOST_TEMPORAL_PORT}` });
    expect(first.sandbox).toBe(`http://127.0.0.1:${ports.ONCEPOST_SANDBOX_PORT}`);
    expect(first.live_key).toMatch(/^svc_live_/);
    expect(first.test_key).toMatch(/^svc_test_/);
    expect(identityOf(first.pid)).not.toBeNull();
    expect(launch.modeOfReadyFile()).toBe(0o600);
    for (const shown of [first.live_key, first.test_key, first.temporal_ui]) expect(launch.output).toContain(shown);
    expect((await fetch(`${first.api}/ready`)).status).toBe(200);
    expect((await fetch(first.temporal_ui)).status).toBe(200);
  }, FIRST_START_MS);

  test('the printed curl publishes on both sandbox platforms', async () => {
    const command = /^curl [^]*?"\}'$/m.exec(launch.output)?.[0] ?? '';
    const { stdout } = await run('sh', ['-c', command]);
    const post = JSON.parse(stdout) as { id: string; status: string; targets: Record<string, { status: string }> };
    expect(post.status).toBe('published');
    expect(Object.values(post.targets).map(({ status }) => status)).toEqual(['published', 'published']);
    postId = post.id;
  });

  test('a second launcher on the same data folder is refused and told the process', async () => {
    const second = start();
    expect(await second.exited).toBe(1);
    expect(second.output).toContain(`process ${first.pid}`);
    expect(second.output).toContain('ONCEPOST_DATA');
    expect((await fetch(`${first.api}/ready`)).status).toBe(200);
  });

  test('a killed server is started again and the product recovers', async () => {
    const { PostgreSQL: before } = launch.processes();
    process.kill(before!.pid, 'SIGKILL');
    await launch.until('PostgreSQL runs again', 30_000, () => launch.output.includes('PostgreSQL runs again.'));
    expect(launch.processes().PostgreSQL!.pid).not.toBe(before!.pid);
    await launch.until('the API is ready again', 30_000, async () => (await fetch(`${first.api}/ready`)).status === 200);
  });

  test('Ctrl-C leaves no process that it started, and no ready.json', async () => {
    const processes = launch.processes();
    expect(namesOfLiving(processes).toSorted()).toEqual(['API', 'PostgreSQL', 'Sandbox', 'Temporal', 'Worker']);
    await stop(launch, 'SIGINT');
    expect(launch.child.exitCode).toBe(0);
    expect(namesOfLiving(processes)).toEqual([]);
    expect(identityOf(first.pid)).toBeNull();
    expect(existsSync(launch.readyFile)).toBe(false);
  }, STOP_MS);

  test('a second start has all state, and keeps the keys to itself', async () => {
    launch = start();
    const second = await launch.ready(LATER_START_MS);
    expect({ ...second, pid: first.pid }).toEqual(first);
    expect(launch.output).not.toContain(first.live_key);
    const reply = await fetch(`${second.api}/v1/posts/${postId}`, { headers: { authorization: `Bearer ${second.test_key}` } });
    expect(reply.status).toBe(200);
  });

  test('kill -9 of the launcher leaves nothing that the next start trips over', async () => {
    const { pid } = JSON.parse(JSON.stringify(await launch.ready(1_000))) as Ready;
    const killed = refOf(pid)!;
    const processes = launch.processes();
    process.kill(pid, 'SIGKILL');
    expect(await isGoneWithin(killed, 5_000)).toBe(true);
    const previous = launch;
    launch = start();
    await launch.until('ready.json names the new launcher', LATER_START_MS, () => launch.output.includes('Ctrl-C stops it.'));
    expect(namesOfLiving(processes)).toEqual([]);
    expect(await previous.exited).toBe(137);
    expect((await fetch(`${first.api}/v1/posts/${postId}`, { headers: { authorization: `Bearer ${first.test_key}` } })).status).toBe(200);
    await stop(launch, 'SIGTERM');
    expect(launch.child.exitCode).toBe(0);
  }, STOP_MS + LATER_START_MS);

  describe('with a busy port', () => {
    let holder: Server;
    let own: Record<string, string>;

    beforeAll(async () => {
      own = await ownPorts();
      holder = createServer();
      await new Promise<void>((resolve, reject) => holder.once('error', reject).listen(Number(own.ONCEPOST_TEMPORAL_PORT), '127.0.0.1', resolve));
    });

    afterAll(() => new Promise<void>((resolve) => holder.close(() => resolve())));

    test('the error names the port and the setting, and nothing was started', async () => {
      const refused = start(own, join(folder, 'busy'));
      expect(await refused.exited).toBe(1);
      expect(refused.output).toContain(`Port ${own.ONCEPOST_TEMPORAL_PORT}`);
      expect(refused.output).toContain('ONCEPOST_TEMPORAL_PORT');
      expect(readdirSync(join(folder, 'busy'))).toEqual([]);
    });
  });
});
