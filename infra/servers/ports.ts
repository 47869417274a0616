import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Which setting moves which port, and how far it lies from ONCEPOST_PORT when it is not set. */
const PORTS = {
  api: { setting: 'ONCEPOST_PORT', offset: 0, user: 'the API' },
  sandbox: { setting: 'ONCEPOST_SANDBOX_PORT', offset: 1, user: 'the sandbox' },
  postgres: { setting: 'ONCEPOST_POSTGRES_PORT', offset: 2, user: 'PostgreSQL' },
  temporal: { setting: 'ONCEPOST_TEMPORAL_PORT', offset: 3, user: 'Temporal' },
  temporalUi: { setting: 'ONCEPOST_TEMPORAL_UI_PORT', offset: 4, user: "Temporal's UI" },
  temporalHttp: { setting: 'ONCEPOST_TEMPORAL_HTTP_PORT', offset: 5, user: "Temporal's HTTP API" },
  temporalMetrics: { setting: 'ONCEPOST_TEMPORAL_METRICS_PORT', offset: 6, user: "Temporal's metrics" },
  worker: { setting: 'ONCEPOST_WORKER_PORT', offset: 7, user: 'the worker' },
} as const;

export type PortName = keyof typeof PORTS;
export type Ports = Record<PortName, number>;

const DEFAULT_PORT = 4400;

export function readPorts(env: NodeJS.ProcessEnv): Ports {
  const base = readPort(env, 'ONCEPOST_PORT', DEFAULT_PORT);
  const entries = Object.entries(PORTS).map(([name, { setting, offset }]) => [name, readPort(env, setting, base + offset)]);
  return Object.fromEntries(entries) as Ports;
}

function readPort(env: NodeJS.ProcessEnv, setting: string, fallback: number): number {
  const text = env[setting];
  const port = text === undefined || text === '' ? fallback : Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`${setting} must be a port from 1 to 65535, not "${text ?? port}"`);
  return port;
}

/** Throws, naming every port that is taken with the setting that moves it. Looks only, and holds nothing. */
export async function assertPortsFree(ports: Ports, needed: PortName[], apiHost: string): Promise<void> {
  const faults: string[] = [];
  const users = new Map<number, string>();
  for (const name of needed) {
    const { setting, user } = PORTS[name];
    const other = users.get(ports[name]);
    users.set(ports[name], user);
    if (other !== undefined) faults.push(`Port ${ports[name]} is given to both ${other} and ${user}: set ${setting} to another one.`);
    else if (!(await isPortFree(ports[name], name === 'api' ? apiHost : '127.0.0.1'))) {
      const also = name === 'api' ? '' : ', or ONCEPOST_PORT, from which it follows';
      faults.push(`Port ${ports[name]}, which ${user} needs, is in use by another program: free it, or set ${setting}${also}, to another one.`);
    }
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

async function isPortFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(new Error(`Port ${port} cannot be used: ${error.message}`));
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Below what systems give to outgoing connections, so that none takes the port before its server does. */
const FREE_FROM = 10_000;
const FREE_TO = 30_000;

/** A port that was free a moment ago. Never the same twice within one process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FREE_FROM, FREE_TO);
    if (given.has(port) || !(await canListen(port))) continue;
    given.add(port);
    return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}

const given = new Set<number>();
