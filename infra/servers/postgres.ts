import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { spawnOwn } from './own-process.ts';
import { clearStalePidFile, createCluster, isCluster, postgresBinaries, type Cluster } from './postgres-cluster.ts';
import { postgresUser } from './postgres-user.ts';
import { Service } from './service.ts';

export interface PostgresOptions {
  /** The cluster's own folder; made when missing. */
  dataDir: string;
  port: number;
  /** Of the login role `oncepost`, set when the cluster is made. */
  password: string;
  logFile?: string;
  /** Further settings, as in postgresql.conf. */
  settings?: Record<string, string>;
}

export interface Postgres {
  service: Service;
  /** Of the database `oncepost`, which its login role owns. That role is no superuser, because row-level security must bind it. */
  url: string;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  log_checkpoints: 'off',
  // A database that is filled from nothing has no statistics at first, and its planner then takes every tenant for one row.
  autovacuum_naptime: '5s',
};

/** Not yet started. A crash at any moment leaves a cluster that recovers by itself, or a half-made one that the next start throws away. */
export function postgres(options: PostgresOptions): Postgres {
  const dataDir = resolve(options.dataDir);
  let cluster: Cluster | null = null;
  const settings = { ...SETTINGS, port: String(options.port), ...options.settings };
  const service = new Service({
    name: 'PostgreSQL',
    logFile: options.logFile ?? `${dataDir}.log`,
    readyWithinMs: 60_000,
    // SIGINT is the fast shutdown: transactions are rolled back, everything is written.
    stopSignal: 'SIGINT',
    stopGraceMs: 30_000,
    isPassing: (log) => log.includes('pre-existing shared memory block'),
    async prepare() {
      await mkdir(dirname(dataDir), { recursive: true });
      const binaries = await postgresBinaries();
      cluster = { dataDir, binaries, runAs: await postgresUser([dirname(dataDir), dirname(binaries.postgres)]) };
      if (!(await isCluster(dataDir))) await createCluster(cluster, options.password);
      await clearStalePidFile(cluster);
    },
    spawn: (log) => spawnOwn({
      program: cluster!.binaries.postgres,
      args: ['-D', dataDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      log,
      orphanSignal: 'INT',
      runAs: cluster!.runAs,
    }),
    isReady: (child) => hasReported(dataDir, child.pid),
  });
  return { service, url: `postgresql://oncepost:${encodeURIComponent(options.password)}@127.0.0.1:${options.port}/oncepost` };
}

/** The server writes its state into its pid file, where pg_ctl looks too. */
async function hasReported(dataDir: string, pid: number | undefined): Promise<boolean> {
  const lines = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  return Number(lines[0]) === pid && lines[7]?.startsWith('ready') === true;
}
