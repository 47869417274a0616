import { resolve } from 'node:path';
import { Caller } from '../support/caller.ts';
import { Process } from '../support/process.ts';
import { System, type Tenant } from '../support/system.ts';
import { BARE_QUEUES } from './bare-queues.ts';
import { LiveHeap } from './live-heap.ts';
import type { Options } from './options.ts';
import { Processes } from './processes.ts';

/** Shortened for fault tests; a measurement wants them as in production. */
const DURATIONS = [
  'TEMPORAL_STICKY_TIMEOUT_MS', 'CONNECT_TIMEOUT_MS', 'CALL_DEADLINE_MS', 'CLAIM_MARGIN_MS', 'ACTIVITY_TIMEOUT_MS', 'SHUTDOWN_GRACE_MS',
  'SWEEP_EVERY_MS', 'SWEEP_MARGIN_MS', 'OUTBOX_POLL_MS', 'OUTBOX_HEAD_START_MS', 'OUTBOX_LEASE_MS', 'KEYED_RESEND_MS',
];

/** The servers, the product and the bare worker beside it, in one run. */
export interface Setting {
  system: System;
  tenant: Tenant;
  caller: Caller;
  bareWorker: Process;
  processes: Processes;
  liveHeap: LiveHeap;
  stop(): Promise<void>;
}

export async function startSetting(options: Options): Promise<Setting> {
  const system = await System.start({ LOG_LEVEL: 'warn', SANDBOX_LATENCY_MS: '0' });
  const liveHeap = new LiveHeap();
  try {
    await asInProduction(system, options, liveHeap);
    const bareWorker = new Process('test/bench/bare-worker.ts', { ...system.env, NODE_OPTIONS: '' }, () => isPolled(system, BARE_QUEUES.activities));
    await bareWorker.start();
    const tenant = await system.tenant();
    const roots = { api: system.api.pid, worker: system.worker.pid, sandbox: system.sandbox.pid, 'bare worker': bareWorker.pid, temporal: system.temporal.pid, postgres: system.postgres.pid, client: process.pid };
    const stop = async () => {
      await Promise.allSettled([bareWorker.stop(), ...(options.profile === null ? [] : [system.api.stop(), system.worker.stop()])]);
      await system.stop();
      liveHeap.remove();
    };
    return { system, tenant, caller: new Caller(system.baseUrl, tenant.testKey), bareWorker, processes: new Processes(roots), liveHeap, stop };
  } catch (error) {
    await system.stop();
    liveHeap.remove();
    throw error;
  }
}

/** Starts API and worker anew with the durations of production and without the proxies of the fault tests in between. */
async function asInProduction(system: System, options: Options, liveHeap: LiveHeap): Promise<void> {
  const { env } = system;
  await Promise.all([system.api.stop(), system.worker.stop()]);
  for (const name of [...DURATIONS, 'CHECK_REPLIES']) delete env[name];
  Object.assign(env, {
    NODE_ENV: 'production', DRAIN_DELAY_MS: '0', DATABASE_URL: system.postgres.url,
    TEMPORAL_ADDRESS: system.temporal.address, SANDBOX_URL: `http://127.0.0.1:${env.ONCEPOST_SANDBOX_PORT}`,
  });
  const profiling = options.profile === null ? '' : ` --cpu-prof --cpu-prof-dir=${resolve(options.profile)}`;
  env.NODE_OPTIONS = `${liveHeap.nodeOptions}${profiling}`;
  await Promise.all([system.api.start(), system.worker.start()]);
}

async function isPolled(system: System, queue: string): Promise<boolean> {
  const { pollers } = await system.client.workflowService.describeTaskQueue({ namespace: 'default', taskQueue: { name: queue }, taskQueueType: 2 });
  return (pollers ?? []).length > 0;
}
