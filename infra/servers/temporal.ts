import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { spawnOwn } from './own-process.ts';
import { Service } from './service.ts';
import { temporalBinary } from './temporal-binary.ts';

export interface TemporalOptions {
  /** Folder of the SQLite file and the log; made when missing. */
  dataDir: string;
  /** Nothing survives a restart. */
  inMemory?: boolean;
  ports: { grpc: number; ui: number; http: number; metrics: number };
  logFile?: string;
  /** How long finished workflows stay readable. */
  retentionDays?: number;
  /** Further dynamic configuration, values in JSON. */
  dynamicConfig?: Record<string, string>;
}

export interface Temporal {
  service: Service;
  address: string;
  uiUrl: string;
}

const SEARCH_ATTRIBUTES = { OrganizationId: 'Keyword', PostId: 'Keyword', OperationId: 'Keyword', Platform: 'KeywordList', OutcomeUnknown: 'Bool' };

const DYNAMIC_CONFIG = {
  'system.enableActivityEagerExecution': 'true',
  'matching.useNewMatcher': 'true',
  'matching.enableFairness': 'true',
  // Fairness holds within a partition; between them a lone task may wait for its turn to be forwarded.
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
  'frontend.WorkerHeartbeatsEnabled': 'true',
};

const NAMESPACE = 'default';

/** Not yet started. A crash at any moment leaves a SQLite file in WAL mode, which the next start recovers. */
export function temporal(options: TemporalOptions): Temporal {
  const dataDir = resolve(options.dataDir);
  const { grpc, ui, http } = options.ports;
  let program = '';
  const service = new Service({
    name: 'Temporal',
    logFile: options.logFile ?? join(dataDir, 'temporal.log'),
    readyWithinMs: 60_000,
    stopSignal: 'SIGTERM',
    stopGraceMs: 15_000,
    async prepare() {
      await mkdir(dataDir, { recursive: true, mode: 0o700 });
      program = await temporalBinary(process.env);
    },
    spawn: (log) => spawnOwn({
      program,
      args: argumentsOf(options, dataDir),
      // The CLI reads a configuration of its own from HOME and from TEMPORAL_ names; neither may reach into the embedded server.
      env: { PATH: process.env.PATH, HOME: dataDir, TMPDIR: process.env.TMPDIR },
      log,
      orphanSignal: 'TERM',
    }),
    isReady: () => isReady(`http://127.0.0.1:${http}/api/v1/namespaces/${NAMESPACE}`, options.retentionDays),
  });
  return { service, address: `127.0.0.1:${grpc}`, uiUrl: `http://localhost:${ui}` };
}

function argumentsOf({ inMemory, ports, dynamicConfig }: TemporalOptions, dataDir: string): string[] {
  const file = ['--db-filename', join(dataDir, 'temporal.db'), '--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'];
  return [
    'server', 'start-dev', '--ip', '127.0.0.1',
    '--port', String(ports.grpc), '--ui-port', String(ports.ui), '--http-port', String(ports.http), '--metrics-port', String(ports.metrics),
    ...(inMemory === true ? [] : file),
    ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ...Object.entries({ ...DYNAMIC_CONFIG, ...dynamicConfig }).flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${value}`]),
    '--log-level', 'warn', '--log-format', 'json', '--color', 'never',
  ];
}

interface Namespace {
  config?: { workflowExecutionRetentionTtl?: string; customSearchAttributeAliases?: Record<string, string> };
}

/** Ready means that the namespace is served with its search attributes, and that its retention is the wanted one. */
async function isReady(url: string, retentionDays: number | undefined): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    if (!response.ok) return false;
    const { config } = (await response.json()) as Namespace;
    const known = Object.values(config?.customSearchAttributeAliases ?? {});
    if (!Object.keys(SEARCH_ATTRIBUTES).every((name) => known.includes(name))) return false;
    const retention = `${(retentionDays ?? 0) * 86_400}s`;
    if (retentionDays === undefined || config?.workflowExecutionRetentionTtl === retention) return true;
    const update = await fetch(`${url}/update`, { method: 'POST', body: JSON.stringify({ config: { workflowExecutionRetentionTtl: retention } }), signal: AbortSignal.timeout(5_000) });
    return update.ok;
  } catch {
    return false;
  }
}
