import { join } from 'node:path';
import type { EmbeddedSecrets } from './embedded-secrets.ts';
import { answersOk, listens, nodeService } from './node-service.ts';
import { postgres, type Postgres } from './postgres.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';
import { temporal, type Temporal } from './temporal.ts';

/** Added to the time in which a program finishes its work by itself, before it is ended. */
const STOP_MARGIN_MS = 5_000;
const SANDBOX_GRACE_MS = 5_000;

export interface Servers {
  postgres: Postgres | null;
  temporal: Temporal | null;
}

/** The servers that no setting names an outside one for. */
export function embeddedServers({ dataDir, ports, config, embeds }: Settings, secrets: EmbeddedSecrets): Servers {
  return {
    postgres: !embeds.postgres ? null : postgres({
      dataDir: join(dataDir, 'postgres'),
      port: ports.postgres,
      password: secrets.databasePassword,
      logFile: join(dataDir, 'logs', 'postgres.log'),
    }),
    temporal: !embeds.temporal ? null : temporal({
      dataDir: join(dataDir, 'temporal'),
      ports: { grpc: ports.temporal, ui: ports.temporalUi, http: ports.temporalHttp, metrics: ports.temporalMetrics },
      logFile: join(dataDir, 'logs', 'temporal.log'),
      retentionDays: config.temporal.retentionDays,
    }),
  };
}

/** The environment of our programs: what was given to us, completed by what we started. */
export function programEnvironment(given: NodeJS.ProcessEnv, { ports, embeds }: Settings, servers: Servers, secrets: EmbeddedSecrets): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...secrets.environment, ...withoutEmpty(given) };
  env.ONCEPOST_PORT = String(ports.api);
  env.ONCEPOST_WORKER_PORT = String(ports.worker);
  env.ONCEPOST_SANDBOX_PORT = String(ports.sandbox);
  if (embeds.sandbox) env.SANDBOX_URL = `http://127.0.0.1:${ports.sandbox}`;
  if (servers.postgres !== null) env.DATABASE_URL = servers.postgres.url;
  if (servers.temporal !== null) {
    env.TEMPORAL_ADDRESS = servers.temporal.address;
    env.TEMPORAL_NAMESPACE = 'default';
    env.TEMPORAL_UI_URL ??= servers.temporal.uiUrl;
  }
  return env;
}

function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

export interface Programs {
  sandbox: Service | null;
  api: Service;
  worker: Service;
}

export function programs({ dataDir, ports, config, embeds, isDev }: Settings, env: NodeJS.ProcessEnv): Programs {
  const logFile = (name: string) => join(dataDir, 'logs', `${name}.log`);
  const stopGraceMs = config.drainDelayMs + config.timing.shutdownGraceMs + STOP_MARGIN_MS;
  return {
    sandbox: !embeds.sandbox ? null : nodeService({
      name: 'Sandbox', entry: entry('providers/sandbox/server.ts'), env, logFile: logFile('sandbox'),
      stopGraceMs: SANDBOX_GRACE_MS, isLoud: false, isReady: () => listens(ports.sandbox),
    }),
    api: nodeService({
      name: 'API', entry: entry('api/server.ts'), env, logFile: logFile('api'),
      stopGraceMs, isLoud: isDev, isReady: () => answersOk(`${localUrl(config.host, ports.api)}/ready`),
    }),
    worker: nodeService({
      name: 'Worker', entry: entry('workers/main.ts'), env, logFile: logFile('worker'),
      stopGraceMs, isLoud: isDev, isReady: () => answersOk(`${localUrl(config.host, ports.worker)}/readyz`),
    }),
  };
}

function entry(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

/** Where this machine reaches a program that listens on `host`. */
export function localUrl(host: string, port: number): string {
  const isAnywhere = host === '0.0.0.0' || host === '::';
  const name = isAnywhere ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
