import { NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import { Infra } from '../infra/context.ts';
import { createOutbound } from '../infra/http/outbound.ts';
import { stopWithParent } from '../infra/servers/parent.ts';
import { readTemporalSettings } from '../infra/temporal/connection.ts';
import { workerLogger } from '../infra/temporal/worker-logger.ts';
import { providers } from '../providers/registry.ts';
import { createCoreWorker, createProviderWorker } from './create-worker.ts';
import { startHealth } from './health.ts';
import { OutboxRelay } from './outbox-relay.ts';
import { Sweeper } from './sweeper.ts';

/** Process entry: workers of both queues, the relay and the sweeper. Ends when its calls in flight have ended. */
async function main(): Promise<void> {
  const infra = await Infra.open('worker', process.env);
  // Signals are ours: the SDK's own handlers would end the process before the relay and the database are closed.
  Runtime.install({ logger: workerLogger(infra.log), shutdownSignals: [] });
  const { config } = infra;
  const outbound = createOutbound({ allow: config.outboundAllow, blocked: [config.sandbox.url], connectTimeoutMs: config.timing.connectTimeoutMs });
  const deps = { infra, outbound, providers };
  const settings = readTemporalSettings(process.env);
  const connection = await connect(settings, infra);
  const temporal = { connection, namespace: settings.namespace };
  const workers = [await createCoreWorker(deps, temporal), await createProviderWorker(deps, temporal)];
  const relay = new OutboxRelay(infra);
  const sweeper = new Sweeper(deps);
  const health = await startHealth({ host: config.host, port: config.workerPort, workers });
  relay.start();
  sweeper.start();
  const stop = () => workers.forEach(shutdown);
  process.once('SIGTERM', stop).once('SIGINT', stop);
  stopWithParent(stop);
  infra.log.info({ queues: ['core', 'providers'] }, 'the worker is running');
  try {
    await Promise.all(workers.map((worker) => worker.run()));
  } finally {
    health.close();
    await Promise.allSettled([relay.stop(), sweeper.stop()]);
    await connection.close();
    await outbound.close();
    await infra.close();
  }
}

function shutdown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

/** Temporal may come later than the worker. */
async function connect(settings: ReturnType<typeof readTemporalSettings>, infra: Infra): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect({ ...settings.connectionOptions, address: settings.address });
    } catch (error) {
      infra.log.warn({ err: error }, 'Temporal is not reachable; trying again');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

await main();
process.exit(0);
