import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { readConfig, type Config } from '../../infra/config/config.ts';
import { Secrets } from '../../infra/config/secrets.ts';
import type { Platform } from '../../infra/contract/platforms.ts';
import { openDatabase, type Database } from '../../infra/db/database.ts';
import type { Account } from '../../infra/db/entities/account.entity.ts';
import { migrate } from '../../infra/db/migrate.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { createApiKey, createOrganization, openSandboxAccount, sandboxPlatforms } from '../../infra/organizations.ts';
import { Process } from './process.ts';
import { freePort, startPostgres, startTemporal, type TestPostgres, type TestTemporal } from './servers.ts';
import { TcpProxy } from './tcp-proxy.ts';

export interface Tenant {
  organizationId: string;
  testKey: string;
  liveKey: string;
  accounts: Record<string, Account>;
}

/** The whole system with real servers. The sandbox's store is a cluster of its own: the witness must not die with the accused. */
export class System {
  env!: NodeJS.ProcessEnv;
  postgres!: TestPostgres;
  witness!: TestPostgres;
  temporal!: TestTemporal;
  /** Between our processes and PostgreSQL; between our processes and the sandbox. */
  databaseProxy!: TcpProxy;
  sandboxProxy!: TcpProxy;
  temporalProxy!: TcpProxy;
  sandbox!: Process;
  api!: Process;
  worker!: Process;
  client!: Client;
  db!: Database;
  baseUrl!: string;
  #folder!: string;
  #connection!: Connection;

  static async start(settings: Record<string, string> = {}): Promise<System> {
    const system = new System();
    try {
      await system.#start(settings);
    } catch (error) {
      await system.stop().catch(() => {});
      throw error;
    }
    return system;
  }

  async #start(settings: Record<string, string>): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'oncepost-system-'));
    const folder = (name: string) => join(this.#folder, name);
    [this.postgres, this.witness, this.temporal] = await Promise.all([
      startPostgres({ dataDir: folder('postgres') }),
      startPostgres({ dataDir: folder('witness') }),
      startTemporal({ dataDir: folder('temporal') }),
    ]);
    const [apiPort, sandboxPort, workerPort] = [await freePort(), await freePort(), await freePort()];
    this.databaseProxy = await TcpProxy.start({ port: this.postgres.port });
    this.sandboxProxy = await TcpProxy.start({ port: sandboxPort });
    this.temporalProxy = await TcpProxy.start({ port: this.temporal.ports.grpc });
    this.env = { ...systemEnv({ apiPort, sandboxPort, workerPort }), ...this.#addresses(), ...settings };
    this.baseUrl = `http://127.0.0.1:${apiPort}`;
    await migrate(this.postgres.url);
    this.#prepareProcesses({ sandboxPort, workerPort });
    await this.sandbox.start();
    await Promise.all([this.api.start(), this.worker.start()]);
    this.#connection = await Connection.connect({ address: this.temporal.address });
    this.client = new Client({ connection: this.#connection });
    this.db = await openDatabase({ url: this.postgres.url, pool: 4 });
  }

  #addresses(): Record<string, string> {
    const database = new URL(this.postgres.url);
    database.host = `127.0.0.1:${this.databaseProxy.port}`;
    return {
      DATABASE_URL: database.href,
      SANDBOX_DATABASE_URL: this.witness.url,
      SANDBOX_URL: `http://127.0.0.1:${this.sandboxProxy.port}`,
      TEMPORAL_ADDRESS: `127.0.0.1:${this.temporalProxy.port}`,
      TEMPORAL_UI_URL: this.temporal.uiUrl,
    };
  }

  #prepareProcesses(ports: { sandboxPort: number; workerPort: number }): void {
    const answers = (url: string) => async () => (await fetch(url).catch(() => null))?.status === 200;
    this.sandbox = new Process('providers/sandbox/server.ts', this.env, answers(`http://127.0.0.1:${ports.sandboxPort}/health`));
    this.api = new Process('api/server.ts', this.env, answers(`${this.baseUrl}/health`));
    this.worker = new Process('workers/main.ts', this.env, answers(`http://127.0.0.1:${ports.workerPort}/readyz`));
  }

  /** An organization of its own with keys and one sandbox account per platform, so that tests do not meet. */
  async tenant(): Promise<Tenant> {
    const foundation = this.#foundation();
    const platforms = await sandboxPlatforms(foundation);
    return inScope(this.db, SYSTEM, async (tx) => {
      const now = new Date();
      const slug = `t-${randomBytes(6).toString('hex')}`;
      const organization = createOrganization(tx, { name: slug, slug }, now);
      await tx.flush();
      const make = (mode: 'live' | 'test') => createApiKey(tx, foundation.secrets, { organizationId: organization.id, mode, name: mode }, now).key;
      const accounts: Record<string, Account> = {};
      for (const platform of platforms) accounts[platform.platform] = await openSandboxAccount(tx, foundation, { organizationId: organization.id, platform, ordinal: 1 }, now);
      return { organizationId: organization.id, testKey: make('test'), liveKey: make('live'), accounts };
    });
  }

  /** One more sandbox account of an organization. */
  async openAccount({ organizationId, platform: name, ordinal }: { organizationId: string; platform: Platform; ordinal: number }): Promise<Account> {
    const platform = (await sandboxPlatforms(this.#foundation())).find((one) => one.platform === name)!;
    return inScope(this.db, SYSTEM, (tx) => openSandboxAccount(tx, this.#foundation(), { organizationId, platform, ordinal }, new Date()));
  }

  #foundation(): { config: Config; secrets: Secrets } {
    return { config: readConfig(this.env), secrets: new Secrets(this.env) };
  }

  async stop(): Promise<void> {
    this.sandboxProxy?.heal();
    await Promise.allSettled([this.api?.kill(), this.worker?.kill(), this.sandbox?.kill()]);
    await Promise.allSettled([this.#connection?.close(), this.db?.close(true)]);
    await Promise.allSettled([this.databaseProxy?.stop(), this.sandboxProxy?.stop(), this.temporalProxy?.stop()]);
    // Temporal takes its time to say goodbye, and what it keeps is thrown away.
    await Promise.allSettled([this.postgres?.stop(), this.witness?.stop(), this.temporal?.kill()]);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const ring = () => `k1:${randomBytes(32).toString('base64')}`;

/** Durations in seconds instead of minutes; everything else as in production. */
function systemEnv(ports: { apiPort: number; sandboxPort: number; workerPort: number }): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, NODE_ENV: 'test', CHECK_REPLIES: 'true',
    ONCEPOST_PORT: String(ports.apiPort), ONCEPOST_SANDBOX_PORT: String(ports.sandboxPort), ONCEPOST_WORKER_PORT: String(ports.workerPort),
    ONCEPOST_BASE_URL: `http://127.0.0.1:${ports.apiPort}`,
    SANDBOX_SECRET: randomBytes(24).toString('base64url'), ONCEPOST_PEPPERS: ring(), ONCEPOST_ENCRYPTION_KEYS: ring(), ONCEPOST_CURSOR_KEYS: ring(),
    SANDBOX_LATENCY_MS: '0', LOG_LEVEL: 'info', TEMPORAL_STICKY_TIMEOUT_MS: '1000',
    CONNECT_TIMEOUT_MS: '2000', CALL_DEADLINE_MS: '3000', CLAIM_MARGIN_MS: '1000', ACTIVITY_TIMEOUT_MS: '6000', SHUTDOWN_GRACE_MS: '7000',
    SWEEP_EVERY_MS: '1000', SWEEP_MARGIN_MS: '2000', OUTBOX_POLL_MS: '100', OUTBOX_HEAD_START_MS: '2000', OUTBOX_LEASE_MS: '3000', KEYED_RESEND_MS: '500',
  };
}
