import { readdirSync } from 'node:fs';
import { QUEUES } from '../../../infra/contract/queues.ts';
import type { Infra } from '../../../infra/context.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';

export type CheckName = 'database' | 'migrations' | 'temporal' | 'workers_core' | 'workers_providers' | 'outbox' | 'clock' | 'unknowns';

export interface Finding {
  status: 'ok' | 'warn' | 'fail';
  message: string;
  hint: string | null;
}

interface CheckSpec {
  name: CheckName;
  /** What is said when the check cannot be made. */
  onFailure: Finding;
  run(infra: Infra): Promise<Finding>;
}

const OUTBOX_LATE_SECONDS = 60;
const UNKNOWN_LATE_SECONDS = 3_600;
const CLOCK_DIFFERENCE_SECONDS = 2;
/** A worker asks for work at least once a minute; the server lists it for minutes after it died. */
const POLLER_FRESH_MS = 75_000;
/** The client repeats failed calls by itself; a deadline ends that. */
const TEMPORAL_TIMEOUT_MS = 1_500;
const WORKFLOW_QUEUE = 1;
const ACTIVITY_QUEUE = 2;

export const CHECKS: readonly CheckSpec[] = [
  {
    name: 'database',
    onFailure: fail('The database does not answer.', 'Look whether PostgreSQL runs and DATABASE_URL is right.'),
    run: async (infra) => {
      await ask(infra, 'select 1 as one');
      return ok('The database answers.');
    },
  },
  {
    name: 'migrations',
    onFailure: fail('The version of the database could not be read.', 'Run npm run migrate.'),
    run: async (infra) => {
      const ran = await ask<{ name: string }>(infra, 'select name from mikro_orm_migrations');
      const missing = migrationNames().filter((name) => !ran.some((row) => row.name === name));
      return missing.length === 0 ? ok('The database is up to date.') : fail(`${missing.length} migrations have not run.`, 'Run npm run migrate.');
    },
  },
  {
    name: 'temporal',
    onFailure: fail('Temporal does not answer.', 'Posts are still accepted and go out when it is back. Look whether Temporal runs.'),
    run: async (infra) => {
      await infra.temporal.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, () => infra.temporal.workflowService.getSystemInfo({}));
      return ok('Temporal answers.');
    },
  },
  workers('workers_core', QUEUES.core, WORKFLOW_QUEUE),
  workers('workers_providers', QUEUES.providers, ACTIVITY_QUEUE),
  {
    name: 'outbox',
    onFailure: warn('The outbox could not be read.', null),
    run: async (infra) => {
      const seconds = await oldest(infra, 'select extract(epoch from now() - min(available_at))::float8 as seconds from outbox');
      return seconds > OUTBOX_LATE_SECONDS ? warn(`The oldest waiting message is ${Math.round(seconds)} s late.`, 'Look whether a worker runs: it carries the outbox to Temporal.') : ok('Nothing waits too long.');
    },
  },
  {
    name: 'clock',
    onFailure: warn('The clock of the database could not be read.', null),
    run: async (infra) => {
      const begin = Date.now();
      const [row] = await ask<{ seconds: number }>(infra, 'select extract(epoch from clock_timestamp())::float8 as seconds');
      const difference = Math.abs(row!.seconds * 1000 - (begin + Date.now()) / 2) / 1000;
      return difference > CLOCK_DIFFERENCE_SECONDS ? warn(`The clocks of this host and of the database differ by ${difference.toFixed(1)} s.`, 'Synchronise the clocks (NTP).') : ok('The clocks agree.');
    },
  },
  {
    name: 'unknowns',
    onFailure: warn('Operations could not be read.', null),
    run: async (infra) => {
      const seconds = await oldest(infra, `select extract(epoch from now() - min(unknown_since))::float8 as seconds from operation where status = 'unknown'`);
      return seconds > UNKNOWN_LATE_SECONDS ? warn(`The oldest unknown outcome is ${Math.round(seconds / 3600)} h old.`, 'See GET /v1/operations?status=unknown; a verdict settles it.') : ok('No unknown outcome is old.');
    },
  },
];

function workers(name: CheckName, queue: string, type: number): CheckSpec {
  const nobody = fail(`No worker takes work from the queue ${queue}.`, 'Start a worker; accepted posts wait for it.');
  return {
    name,
    onFailure: fail('Temporal could not be asked for its workers.', null),
    run: async (infra) => {
      const question = { namespace: infra.temporal.options.namespace, taskQueue: { name: queue }, taskQueueType: type };
      const { pollers } = await infra.temporal.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, () => infra.temporal.workflowService.describeTaskQueue(question));
      const fresh = (pollers ?? []).filter((poller) => Date.now() - Number(poller.lastAccessTime?.seconds ?? 0) * 1000 < POLLER_FRESH_MS);
      return fresh.length === 0 ? nobody : ok(`${fresh.length} worker${fresh.length === 1 ? '' : 's'} on the queue ${queue}.`);
    },
  };
}

async function ask<T>(infra: Infra, sql: string): Promise<T[]> {
  return inScope(infra.db, SYSTEM, (tx) => tx.execute<T[]>(sql));
}

async function oldest(infra: Infra, sql: string): Promise<number> {
  const [row] = await ask<{ seconds: number | null }>(infra, sql);
  return row?.seconds ?? 0;
}

function migrationNames(): string[] {
  return readdirSync(new URL('../../../infra/db/migrations/', import.meta.url)).filter((name) => /^Migration\d+\.ts$/.test(name)).map((name) => name.slice(0, -3));
}

function ok(message: string): Finding {
  return { status: 'ok', message, hint: null };
}

function warn(message: string, hint: string | null): Finding {
  return { status: 'warn', message, hint };
}

function fail(message: string, hint: string | null): Finding {
  return { status: 'fail', message, hint };
}
