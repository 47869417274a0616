import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActivityDeps } from '../../activities/deps.ts';
import { begin } from '../../activities/posts/begin.ts';
import { probeOperation } from '../../activities/operations/probe.ts';
import { AccountEntity } from '../../infra/db/entities/account.entity.ts';
import { migrate } from '../../infra/db/migrate.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { createOutbound } from '../../infra/http/outbound.ts';
import { openSandboxAccount, sandboxPlatforms, type SandboxPlatform } from '../../infra/organizations.ts';
import { silentLog } from '../../providers/sandbox/log.ts';
import { openSandbox, type OpenSandbox } from '../../providers/sandbox/open.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { Caller, type Answered } from '../support/caller.ts';
import { apiKey, organization } from '../support/factories.ts';
import { freePort, startPostgres, type TestPostgres } from '../support/servers.ts';
import { Carrier, depsOf, Line } from './carriers.ts';
import type { Platform } from './model.ts';

/** Of an organization: who calls, and the accounts that posts go to. */
export interface Organization {
  id: string;
  caller: Caller;
  accounts: { id: string; platform: Platform }[];
}

/** Thousands of replies need not be compressed. */
class PlainCaller extends Caller {
  override call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answered> {
    return super.call(method, path, body, { 'accept-encoding': 'identity', ...headers });
  }
}

/** Everything but Temporal is real: HTTP, PostgreSQL, the activities, the sandbox. The test is the one who carries. */
export class System {
  readonly api: TestApi;
  readonly line: Line;
  readonly #deps: ActivityDeps;
  readonly #postgres: TestPostgres;
  readonly #folder: string;
  readonly #sandbox: OpenSandbox;
  readonly #platforms: SandboxPlatform[];
  #facts: Record<string, unknown> = {};

  private constructor(parts: { api: TestApi; line: Line; postgres: TestPostgres; folder: string; sandbox: OpenSandbox; platforms: SandboxPlatform[] }) {
    this.api = parts.api;
    this.line = parts.line;
    this.#deps = depsOf(parts.api.infra, parts.line.outbound);
    this.#postgres = parts.postgres;
    this.#folder = parts.folder;
    this.#sandbox = parts.sandbox;
    this.#platforms = parts.platforms;
  }

  static async start(): Promise<System> {
    const folder = await mkdtemp(join(tmpdir(), 'oncepost-model-'));
    // Nothing here dies, so nothing has to wait for the disk.
    const postgres = await startPostgres({ dataDir: join(folder, 'data'), settings: { fsync: 'off', synchronous_commit: 'off' } });
    await migrate(postgres.url);
    const [sandboxPort, nobody] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${sandboxPort}`;
    const api = await startApi({ databaseUrl: postgres.url, env: { SANDBOX_URL: url, TEMPORAL_ADDRESS: `127.0.0.1:${nobody}` } });
    const { config, secrets } = api.infra;
    const sandbox = await openSandbox({ settings: { baseUrl: config.baseUrl, url, latencyMs: 0, duplicates: false, secret: secrets.sandboxSecret }, databaseUrl: postgres.url, host: '127.0.0.1', port: sandboxPort, log: silentLog });
    const line = new Line(createOutbound({ allow: [], blocked: [url], connectTimeoutMs: config.timing.connectTimeoutMs }), `http://127.0.0.1:${nobody}`);
    const system = new System({ api, line, postgres, folder, sandbox, platforms: await sandboxPlatforms(api.infra) });
    await system.#learnFacts();
    return system;
  }

  /** Two accounts on a platform without keys and one on a platform with them. */
  async organization(): Promise<Organization> {
    const { infra } = this.api;
    const { id } = await organization(infra);
    const { secret } = await apiKey(infra, { organizationId: id });
    const now = new Date();
    const accounts = await inScope(infra.db, SYSTEM, async (tx) => {
      const made = [];
      for (const [platform, ordinal] of [['twitter', 1], ['twitter', 2], ['mastodon', 1]] as const) {
        const account = await openSandboxAccount(tx, infra, { organizationId: id, platform: this.#platforms.find((one) => one.platform === platform)!, ordinal }, now);
        if (platform === 'mastodon') Object.assign(account, { facts: this.#facts, factsAt: now });
        made.push({ id: account.id, platform });
      }
      return made;
    });
    return { id, caller: new PlainCaller(this.api.url, secret), accounts };
  }

  /** What a server says of itself is read once; every organization of a run begins with it. */
  async #learnFacts(): Promise<void> {
    const { caller, accounts } = await this.organization();
    const { id } = accounts[2]!;
    const post = await caller.publish({ targets: [id], content: 'first' });
    const carrier = await this.carry(post.targets[id].accounts[0].operation_id);
    while ((await carrier.step()) !== 'ended');
    this.#facts = await inScope(this.api.infra.db, SYSTEM, async (tx) => (await tx.findOneOrFail(AccountEntity, { id })).facts);
  }

  async carry(operationId: string): Promise<Carrier> {
    const carrier = new Carrier(this.#deps, operationId);
    await carrier.settled();
    return carrier;
  }

  begin = (postId: string, seq: number) => begin(this.#deps, { postId, seq });
  probe = (operationId: string) => probeOperation(this.#deps, { operationId });

  async stop(): Promise<void> {
    await this.line.outbound.close();
    await this.#sandbox.close();
    await this.api.close();
    await this.#postgres.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
