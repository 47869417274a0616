import { EnvReader } from './env.ts';

/** Everything a process may print: no secrets in here (they are in secrets.ts). */
export interface Config {
  host: string;
  apiPort: number;
  workerPort: number;
  sandboxPort: number;
  baseUrl: string;
  temporal: { uiUrl: string | null; stickyTimeoutMs: number; retentionDays: number };
  sandbox: { enabled: boolean; url: string; latencyMs: number; duplicates: boolean };
  cors: string[] | 'none' | '*';
  trustedProxies: string[];
  outboundAllow: string[];
  drainDelayMs: number;
  logLevel: string;
  /** Every reply is checked against its own schema; a mismatch is a loud 500. For tests. */
  checkReplies: boolean;
  databasePool: number;
  worker: { maxWorkflowTasks: number; maxProviderCalls: number; maxCachedWorkflows: number };
  timing: Timing;
}

/** Every duration of the machinery, so that fault tests run in seconds. */
export interface Timing {
  connectTimeoutMs: number;
  /** Deadline of one public request; its claim lives `claimMarginMs` longer. */
  callDeadlineMs: number;
  claimMarginMs: number;
  /** How long an activity may run: longer than a call, shorter than the worker's grace. */
  activityTimeoutMs: number;
  shutdownGraceMs: number;
  sweepEveryMs: number;
  /** How long past its deadline a claim must be before the sweeper takes it for lost. */
  sweepMarginMs: number;
  outboxPollMs: number;
  /** How long the relay leaves a fresh row to the API's own start. */
  outboxHeadStartMs: number;
  outboxLeaseMs: number;
  /** Wait between a lost answer of a keyed step and the read before its repetition. */
  keyedResendMs: number;
}

export function readConfig(source: NodeJS.ProcessEnv): Config {
  const env = new EnvReader(source);
  const apiPort = env.integer('ONCEPOST_PORT', 4400, { min: 1, max: 65535 });
  const host = env.string('ONCEPOST_HOST', '127.0.0.1');
  const config: Config = {
    host,
    apiPort,
    workerPort: env.integer('ONCEPOST_WORKER_PORT', apiPort + 7, { min: 1, max: 65535 }),
    sandboxPort: env.integer('ONCEPOST_SANDBOX_PORT', apiPort + 1, { min: 1, max: 65535 }),
    baseUrl: env.url('ONCEPOST_BASE_URL', `http://${host === '0.0.0.0' || host === '::' ? 'localhost' : host}:${apiPort}`),
    temporal: {
      uiUrl: env.string('TEMPORAL_UI_URL'),
      stickyTimeoutMs: env.integer('TEMPORAL_STICKY_TIMEOUT_MS', 5_000, { min: 100 }),
      retentionDays: env.integer('TEMPORAL_RETENTION_DAYS', 30, { min: 1 }),
    },
    sandbox: {
      enabled: env.boolean('SANDBOX_ENABLED', true),
      url: env.url('SANDBOX_URL', `http://127.0.0.1:${apiPort + 1}`),
      latencyMs: env.integer('SANDBOX_LATENCY_MS', 20),
      duplicates: env.boolean('SANDBOX_DUPLICATES', false),
    },
    cors: corsOf(env.list('CORS_ORIGINS')),
    trustedProxies: env.list('TRUSTED_PROXIES'),
    outboundAllow: env.list('ONCEPOST_OUTBOUND_ALLOW'),
    drainDelayMs: env.integer('DRAIN_DELAY_MS', source.NODE_ENV === 'production' ? 5_000 : 0),
    logLevel: env.string('LOG_LEVEL', 'info'),
    checkReplies: env.boolean('CHECK_REPLIES', source.NODE_ENV === 'test'),
    databasePool: env.integer('DATABASE_POOL', 10, { min: 1, max: 200 }),
    worker: {
      maxWorkflowTasks: env.integer('WORKER_MAX_WORKFLOW_TASKS', 40, { min: 2 }),
      maxProviderCalls: env.integer('WORKER_MAX_PROVIDER_CALLS', 100, { min: 1 }),
      maxCachedWorkflows: env.integer('WORKER_MAX_CACHED_WORKFLOWS', 300, { min: 0 }),
    },
    timing: readTiming(env),
  };
  if (env.faults.length > 0) throw new ConfigError(env.faults);
  return config;
}

function readTiming(env: EnvReader): Timing {
  const timing: Timing = {
    connectTimeoutMs: env.integer('CONNECT_TIMEOUT_MS', 10_000, { min: 1 }),
    callDeadlineMs: env.integer('CALL_DEADLINE_MS', 60_000, { min: 1 }),
    claimMarginMs: env.integer('CLAIM_MARGIN_MS', 30_000, { min: 1 }),
    activityTimeoutMs: env.integer('ACTIVITY_TIMEOUT_MS', 100_000, { min: 1 }),
    shutdownGraceMs: env.integer('SHUTDOWN_GRACE_MS', 110_000, { min: 1 }),
    sweepEveryMs: env.integer('SWEEP_EVERY_MS', 30_000, { min: 100 }),
    sweepMarginMs: env.integer('SWEEP_MARGIN_MS', 30_000),
    outboxPollMs: env.integer('OUTBOX_POLL_MS', 300, { min: 10 }),
    outboxHeadStartMs: env.integer('OUTBOX_HEAD_START_MS', 5_000),
    outboxLeaseMs: env.integer('OUTBOX_LEASE_MS', 15_000, { min: 100 }),
    keyedResendMs: env.integer('KEYED_RESEND_MS', 30_000),
  };
  if (!(timing.callDeadlineMs < timing.activityTimeoutMs && timing.activityTimeoutMs < timing.shutdownGraceMs)) {
    env.faults.push('CALL_DEADLINE_MS < ACTIVITY_TIMEOUT_MS < SHUTDOWN_GRACE_MS must hold, else a deploy makes outcomes unknown');
  }
  return timing;
}

function corsOf(list: string[]): Config['cors'] {
  if (list.length === 0) return '*';
  return list[0] === 'none' ? 'none' : list;
}

/** Thrown when the environment does not make a configuration; names every fault at once. */
export class ConfigError extends Error {
  constructor(faults: string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}
