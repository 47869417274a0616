import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { freePort } from '../../infra/servers/ports.ts';
import { postgres } from '../../infra/servers/postgres.ts';
import type { Service } from '../../infra/servers/service.ts';
import { temporal } from '../../infra/servers/temporal.ts';

/*
 * startPostgres({ dataDir, port?, password?, settings? }) → { url, port, password, pid, kill(), restart(), stop() }
 * startTemporal({ dataDir, inMemory?, ports?, dynamicConfig?, retentionDays? }) → { address, uiUrl, ports, pid, kill(), restart(), stop() }
 *
 * kill() is a SIGKILL of the server; restart() after it (or at any time) brings the server back on the same port and data.
 * Both resolve when the server answers. Nothing is restarted by itself here.
 */

export { freePort };

export interface TestServer {
  readonly pid: number | null;
  kill(): Promise<void>;
  /** Stops what still runs, and starts again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestPostgres extends TestServer {
  url: string;
  port: number;
  password: string;
}

export interface TestTemporal extends TestServer {
  address: string;
  uiUrl: string;
  ports: { grpc: number; ui: number; http: number; metrics: number };
}

export async function startPostgres(options: { dataDir: string; port?: number; password?: string; settings?: Record<string, string> }): Promise<TestPostgres> {
  const port = options.port ?? (await freePort());
  const password = options.password ?? (await copiedCluster(options.dataDir)) ?? randomBytes(12).toString('base64url');
  const { service, url } = postgres({ ...options, port, password });
  await service.start();
  return Object.assign(handleOf(service), { url, port, password });
}

/** In a run of all tests a new cluster is a copy of one that was made once: making one takes longer than most tests. Its password; null = nothing was copied. */
async function copiedCluster(dataDir: string): Promise<string | null> {
  const template = process.env.TEST_POSTGRES_TEMPLATE;
  if (template === undefined || existsSync(dataDir)) return null;
  made ??= makeTemplate(template);
  const password = await made;
  await promisify(execFile)('cp', ['-a', template, dataDir]);
  return password;
}

/** Files of tests run one after the other; within one, several clusters may be wanted at once. */
let made: Promise<string> | null = null;

async function makeTemplate(template: string): Promise<string> {
  const secret = `${template}.password`;
  if (existsSync(secret)) return readFile(secret, 'utf8');
  const password = randomBytes(12).toString('base64url');
  await (await startPostgres({ dataDir: template, password })).stop();
  await writeFile(secret, password);
  return password;
}

export interface TestTemporalOptions {
  dataDir: string;
  inMemory?: boolean;
  ports?: TestTemporal['ports'];
  dynamicConfig?: Record<string, string>;
  retentionDays?: number;
}

export async function startTemporal(options: TestTemporalOptions): Promise<TestTemporal> {
  const ports = options.ports ?? { grpc: await freePort(), ui: await freePort(), http: await freePort(), metrics: await freePort() };
  const { service, address, uiUrl } = temporal({ ...options, ports });
  await service.start();
  return Object.assign(handleOf(service), { address, uiUrl, ports });
}

function handleOf(service: Service): TestServer {
  return {
    get pid() {
      return service.pid;
    },
    kill: () => service.kill(),
    restart: () => service.restart(),
    stop: () => service.stop(),
  };
}
