import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { announceStopping, lockDataFolder, withdrawStopping } from './data-lock.ts';
import { embeddedSecrets, rememberFirstKeys, type EmbeddedSecrets, type FirstKeys } from './embedded-secrets.ts';
import { embeddedServers, localUrl, programEnvironment, programs, type Programs, type Servers } from './embedded-services.ts';
import { keepAlive } from './keep-alive.ts';
import type { Lock } from './lock.ts';
import { assertPortsFree } from './ports.ts';
import { ProcessRecord } from './process-record.ts';
import { withProgress } from './progress.ts';
import { removeReadyFile, writeReadyFile, type Addresses } from './ready-file.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';
import { restartOnChange } from './watch.ts';
import { welcome } from './welcome.ts';

/** Starts the whole product in order, keeps it running, and stops it in the opposite order. */
export class Launcher {
  readonly #settings: Settings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #say: (line: string) => void;
  readonly #record: ProcessRecord;
  readonly #ended = new AbortController();
  /** Groups in the order of their start; the members of a group start and stop together. */
  readonly #started: Service[][] = [];
  #lock: Lock | null = null;
  #stopped: Promise<void> | null = null;

  constructor(settings: Settings, env: NodeJS.ProcessEnv, say: (line: string) => void) {
    this.#settings = settings;
    this.#env = env;
    this.#say = say;
    this.#record = new ProcessRecord(join(settings.dataDir, 'processes.json'));
  }

  get isStopping(): boolean {
    return this.#ended.signal.aborted;
  }

  /** May throw at any step; whatever was started until then is stopped by `stop()`. */
  async start(): Promise<void> {
    const { dataDir, ports, neededPorts, config } = this.#settings;
    makeDataFolder(dataDir);
    this.#lock = await lockDataFolder(dataDir);
    removeReadyFile(dataDir);
    await withdrawStopping(dataDir);
    const leftovers = await withProgress('Ending what an earlier start left behind', () => this.#record.endLeftovers());
    if (leftovers.length > 0) this.#say(`Ended what an earlier start left behind: ${leftovers.join(', ')}.`);
    await assertPortsFree(ports, neededPorts, config.host);
    const secrets = embeddedSecrets(dataDir);
    const servers = embeddedServers(this.#settings, secrets);
    await this.#startTogether([servers.postgres?.service, servers.temporal?.service]);
    const env = programEnvironment(this.#env, this.#settings, servers, secrets);
    await this.#migrate(env);
    const started = programs(this.#settings, env);
    await this.#startTogether([started.sandbox]);
    const keys = await this.#firstOrganization(env, secrets);
    await this.#startTogether([started.api, started.worker]);
    this.#announce(this.#addresses(servers, env), started, keys);
  }

  /** Waits for all of them even when one fails, so that none is started behind our back. */
  async #startTogether(wanted: (Service | null | undefined)[]): Promise<void> {
    this.#assertGoing();
    const services = wanted.filter((service) => service !== null && service !== undefined);
    if (services.length === 0) return;
    this.#started.push(services);
    for (const service of services) {
      this.#record.follow(service);
      keepAlive(service, this.#ended.signal, this.#say);
    }
    await withProgress(`Starting ${services.map(({ name }) => name).join(' and ')}`, async () => {
      const faults: string[] = [];
      await Promise.all(services.map((service) => service.start().catch(async (error: Error) => {
        // What waits for the one that failed would wait in vain, and says nothing new when it is stopped.
        if (faults.push(error.message) === 1) await Promise.allSettled(services.map((other) => other.stop()));
      })));
      if (faults.length > 0) throw new Error(faults.filter((fault, index) => index === 0 || !fault.includes('was stopped while it started')).join('\n'));
    });
    this.#assertGoing();
  }

  #assertGoing(): void {
    if (this.isStopping) throw new Error('The start was called off.');
  }

  async #migrate(env: NodeJS.ProcessEnv): Promise<void> {
    // Loaded only here, because loading it takes longer than a start of the servers.
    const { migrate } = await import('../db/migrate.ts');
    const applied = await withProgress('Migrating the database', () => migrate(env.DATABASE_URL!));
    if (applied.length > 0) this.#say(`Migrated the database: ${applied.join(', ')}.`);
    this.#assertGoing();
  }

  /** A crash between the commit and the file leaves an organization whose keys nobody knows; it is the price of never storing them. */
  async #firstOrganization(env: NodeJS.ProcessEnv, secrets: EmbeddedSecrets): Promise<FirstKeys | null> {
    const { ensureFirstOrganization } = await import('../db/first-start.ts');
    const created = await ensureFirstOrganization(env);
    if (created === null) return secrets.firstKeys;
    const keys = { ...created, wasShown: false };
    rememberFirstKeys(this.#settings.dataDir, keys);
    return keys;
  }

  #addresses(servers: Servers, env: NodeJS.ProcessEnv): Addresses {
    const { config, ports } = this.#settings;
    return {
      api: localUrl(config.host, ports.api),
      console: null,
      temporal: env.TEMPORAL_ADDRESS!,
      temporal_ui: servers.temporal?.uiUrl ?? config.temporal.uiUrl,
      sandbox: config.sandbox.enabled ? (env.SANDBOX_URL ?? null) : null,
      s3: null,
    };
  }

  #announce(addresses: Addresses, { api, worker }: Programs, keys: FirstKeys | null): void {
    const { dataDir, isDev } = this.#settings;
    writeReadyFile(this.#settings, addresses, keys);
    this.#say(welcome(addresses, dataDir, keys));
    if (keys !== null && !keys.wasShown) rememberFirstKeys(dataDir, { ...keys, wasShown: true });
    if (isDev) restartOnChange([api, worker], this.#ended.signal, this.#say);
  }

  /** Lets the programs finish, then stops the servers. Repeated calls wait for the same end. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    this.#ended.abort();
    if (this.#lock === null) return;
    const { dataDir } = this.#settings;
    removeReadyFile(dataDir);
    await announceStopping(dataDir);
    for (const services of this.#started.toReversed()) {
      const names = services.map(({ name }) => name).join(' and ');
      await withProgress(`Stopping ${names}`, () => Promise.allSettled(services.map((service) => service.stop())));
    }
    this.#record.clear();
    await withdrawStopping(dataDir);
    await this.#lock.release();
  }

  /** Cuts short a stop that is under way. Everything that runs here survives a SIGKILL without loss. */
  async kill(): Promise<void> {
    await Promise.allSettled(this.#started.flat().map((service) => service.kill()));
  }
}

function makeDataFolder(dataDir: string): void {
  const made = mkdirSync(dataDir, { recursive: true });
  // PostgreSQL, which never runs as root, must then pass through the folder as another user. The files in it are closed by themselves.
  if (made !== undefined) chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
}
