import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { newId } from '../../infra/contract/ids.ts';
import { silentLog } from '../../providers/sandbox/log.ts';
import { openSandbox } from '../../providers/sandbox/open.ts';
import type { Settings } from '../../providers/sandbox/sandbox.ts';
import { freshDatabase } from '../support/database.ts';
import { freePort } from '../support/servers.ts';

/** A running sandbox with a database of its own, and the clients that tests look at it with. */
export interface Played {
  url: string;
  port: number;
  settings: Settings;
  databaseUrl: string;
  admin(method: string, path: string, body?: unknown): Promise<Answered>;
  account(platform: string, options?: { organization?: string; username?: string; behaviour?: string }): Promise<TestAccount>;
  /** The same database behind another server: what a restart would find. */
  restart(change?: Partial<Settings>): Promise<void>;
  close(): Promise<void>;
}

export interface TestAccount {
  id: string;
  organization: string;
  platformAccountId: string;
  username: string;
  access: string;
  refresh: string;
}

export interface Answered {
  status: number;
  headers: Record<string, string>;
  text: string;
  json: any;
}

export const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

export async function startPlayed(change: Partial<Settings> = {}): Promise<Played> {
  const database = await freshDatabase();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const settings: Settings = { baseUrl: 'https://oncepost.test', url, latencyMs: 0, duplicates: false, secret: randomBytes(16).toString('hex'), ...change };
  const open = (now: Settings): ReturnType<typeof openSandbox> => openSandbox({ settings: now, databaseUrl: database.url, host: '127.0.0.1', port, log: silentLog });
  let running = await open(settings);
  const admin: Played['admin'] = (method, path, body) => call(url + path, { method, json: body, headers: { authorization: `Bearer ${settings.secret}` } });
  return {
    url, port, settings, databaseUrl: database.url, admin,
    account: (platform, options) => register(admin, platform, options),
    restart: async (next = {}) => {
      await running.close();
      running = await open({ ...settings, ...next });
    },
    close: async () => {
      await running.close();
      await database.release();
    },
  };
}

async function register(admin: Played['admin'], platform: string, options: { organization?: string; username?: string; behaviour?: string } = {}): Promise<TestAccount> {
  const id = newId('account');
  const token = (): string => `sandbox-${id.slice(4)}-1-${randomBytes(12).toString('hex')}`;
  const account: TestAccount = {
    id, organization: options.organization ?? newId('organization'), platformAccountId: `sandbox-${platform}-${id.slice(-6)}`,
    username: options.username ?? `sandbox_${platform}`, access: token(), refresh: token(),
  };
  const made = await admin('PUT', `/admin/accounts/${id}`, {
    organization_id: account.organization, platform, platform_account_id: account.platformAccountId, username: account.username, display_name: 'Sandbox',
    behaviour: options.behaviour ?? 'normal', access_token_sha256: sha256(account.access), refresh_token_sha256: sha256(account.refresh), generation: 1,
  });
  if (made.status !== 200) throw new Error(`account: ${made.status} ${made.text}`);
  return account;
}

export interface CallOptions {
  method?: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: Buffer | string;
}

/** One request on a connection of its own. Rejects when no complete answer comes. */
export function call(url: string, options: CallOptions = {}): Promise<Answered> {
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  const headers: Record<string, string> = { ...(options.json === undefined ? {} : { 'content-type': 'application/json' }), ...options.headers };
  if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: options.method ?? 'GET', headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (!response.complete) return reject(new Error('incomplete'));
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode!, headers: response.headers as Record<string, string>, text, json: parsed(text) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function as(account: TestAccount, more: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${account.access}`, ...more };
}

export function trace(operation: string, step = 'publish', attempt = 1): Record<string, string> {
  return { 'x-oncepost-trace': `${operation};${step};${attempt}` };
}

/** Everything one request receives until its connection ends, and how it ends; `open` when it has not ended in time. */
export function rawCall(port: number, request: string, waitMs = 1_500): Promise<{ received: string; end: 'reset' | 'closed' | 'open' }> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    const finish = (end: 'reset' | 'closed' | 'open'): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ received, end });
    };
    const timer = setTimeout(() => finish('open'), waitMs);
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('error', () => finish('reset'));
    socket.on('end', () => finish('closed'));
  });
}

export function rawPost(path: string, account: TestAccount, body: unknown, headers: Record<string, string> = {}): string {
  const content = JSON.stringify(body);
  const all = { host: 'sandbox', 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)), ...as(account, headers) };
  return `POST ${path} HTTP/1.1\r\n${Object.entries(all).map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${content}`;
}

export function multipart(fields: Record<string, string | { filename: string; type: string; content: Buffer }>): { body: Buffer; headers: Record<string, string> } {
  const boundary = `b${randomBytes(8).toString('hex')}`;
  const parts = Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string'
    ? [Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)]
    : [Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${value.filename}"\r\ncontent-type: ${value.type}\r\n\r\n`), value.content, Buffer.from('\r\n')]));
  return { body: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]), headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}
