import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { DRAIN_REQUESTS_MS } from '../infra/contract/limits.ts';
import { Infra } from '../infra/context.ts';
import { stopWithParent } from '../infra/servers/parent.ts';
import { createApp } from './app.ts';
import { createHttpServer } from './http-server.ts';
import { Lifecycle } from './lifecycle.ts';

/** A pool waits for its last connection, and a broken one may never come back. */
const CLOSE_MAX_MS = 3_000;

/** env → infra → app → listen → drain. */
const infra = await Infra.open('api', process.env);
const lifecycle = new Lifecycle();
const server = createHttpServer(createApp(infra, undefined, { lifecycle }).callback());
await listen(server);
infra.log.info({ host: infra.config.host, port: infra.config.apiPort }, 'listening');

let ending: Promise<void> | undefined;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(signal));
// A process that was started by another ends with it, so that a killed launcher leaves nothing behind.
stopWithParent(() => end('parent gone'));

function end(reason: string): void {
  if (ending !== undefined) process.exit(1);
  infra.log.info({ reason }, 'draining');
  ending = drain();
}

/** Requests are served as before for the drain delay, then those under way get their time, then the rest is cut. */
async function drain(): Promise<void> {
  lifecycle.leave();
  await pause(infra.config.drainDelayMs);
  lifecycle.close();
  server.close();
  server.closeIdleConnections();
  const isDrained = await Promise.race([lifecycle.idle().then(() => true), pause(DRAIN_REQUESTS_MS, false)]);
  server.closeAllConnections();
  // The Temporal client repeats calls from a timer and throws there once its channel is closed.
  process.on('uncaughtException', (error) => infra.log.warn({ err: error }, 'an error while ending'));
  const closing = infra.close().catch((error: unknown) => infra.log.warn({ err: error }, 'closing failed'));
  await Promise.race([closing, pause(CLOSE_MAX_MS)]);
  infra.log.info({ drained: isDrained }, 'ended');
  process.exit(isDrained ? 0 : 1);
}

async function listen(server: Server): Promise<void> {
  const { host, apiPort } = infra.config;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(apiPort, host, () => resolve());
  }).catch(async (error: NodeJS.ErrnoException) => {
    infra.log.fatal({ err: error }, `cannot listen on ${host}:${apiPort}: choose another port with ONCEPOST_PORT`);
    process.exit(1);
  });
}
