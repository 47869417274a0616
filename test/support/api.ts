import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createApp, type AppOptions } from '../../api/app.ts';
import { createHttpServer } from '../../api/http-server.ts';
import { Lifecycle } from '../../api/lifecycle.ts';
import type { AnyRoute } from '../../api/route.ts';
import type { Clock } from '../../infra/clock.ts';
import { Infra } from '../../infra/context.ts';
import { migratedDatabase } from './database.ts';

export interface TestApi {
  infra: Infra;
  server: Server;
  port: number;
  url: string;
  lifecycle: Lifecycle;
  databaseUrl: string;
  /** One request; the body is sent as JSON unless it is a text or bytes already. */
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface SendOptions {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The decoded body; null when there was none. */
  body: any;
}

/** By what a refusal is told. */
export function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body?.error?.code];
}

export interface ApiOptions extends AppOptions {
  routes?: readonly AnyRoute[];
  env?: Record<string, string>;
  /** Of the application; that of the database goes on as ever. */
  clock?: Clock;
  /** Of the HTTP server's wait for headers. */
  headersMs?: number;
  /** Uses this database instead of a fresh one, as a second process would. */
  databaseUrl?: string;
}

const ring = (...ids: string[]) => ids.map((id) => `${id}:${randomBytes(32).toString('base64')}`).join(',');
const RINGS = { ONCEPOST_PEPPERS: ring('p2', 'p1'), ONCEPOST_ENCRYPTION_KEYS: ring('e1'), ONCEPOST_CURSOR_KEYS: ring('c1') };

/** The application in this process, on a free port, against a database of its own. */
export async function startApi(options: ApiOptions = {}): Promise<TestApi> {
  const database = options.databaseUrl === undefined ? await migratedDatabase() : { url: options.databaseUrl, release: async () => {} };
  const databaseUrl = database.url;
  const infra = await Infra.open('test-api', { NODE_ENV: 'test', LOG_LEVEL: 'silent', SANDBOX_SECRET: 'sandbox', DATABASE_URL: databaseUrl, ...RINGS, ...options.env }, options);
  const { lifecycle = new Lifecycle() } = options;
  const server = createHttpServer(createApp(infra, options.routes, { ...options, lifecycle }).callback(), options);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    infra, server, port, url, lifecycle, databaseUrl,
    send: (method, path, sendOptions = {}) => send(url + path, method, sendOptions),
    async close() {
      server.close();
      server.closeAllConnections();
      // A pool waits for its last connection, and one that a test broke may never come back.
      await Promise.race([infra.close(), pause(3_000, undefined, { ref: false })]);
      await database.release();
    },
  };
}

async function send(url: string, method: string, { key, body, headers = {} }: SendOptions): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? null : isRaw ? (body as string) : JSON.stringify(body),
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson && text !== '' ? JSON.parse(text) : null };
}
