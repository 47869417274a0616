import type { ServerResponse } from 'node:http';

/** An answer as the platform would give it, before anything is done to it on its way. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Never reaches the caller: the connection breaks in its place. */
  lost?: boolean;
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: Buffer.from(JSON.stringify(value)) };
}

export function text(status: number, value: string, contentType = 'text/plain; charset=utf-8'): Reply {
  return { status, headers: { 'content-type': contentType }, body: Buffer.from(value) };
}

export function empty(status: number): Reply {
  return { status, headers: {}, body: Buffer.alloc(0) };
}

export function withHeaders(reply: Reply, headers: Record<string, string>): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** Sends all of it. A connection that is already gone is no error here: what was done is in the ledger. */
export function sendReply(response: ServerResponse, reply: Reply): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length });
  response.end(reply.body);
}
