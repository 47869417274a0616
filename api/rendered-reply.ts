import type { Reply } from './route.ts';
import type { Context } from './state.ts';

/** A reply as bytes: what is sent, and what a receipt keeps. */
export interface RenderedReply {
  status: number;
  body: Buffer | null;
  /** Of the body, when it is not JSON. */
  fileType?: string;
  headers: Record<string, string>;
  /** Shows a one-time secret, so it is not compressed. */
  isSecret: boolean;
}

export function renderReply(reply: Reply): RenderedReply {
  return {
    status: reply.status,
    body: reply.file?.bytes ?? (reply.body === undefined ? null : Buffer.from(JSON.stringify(reply.body))),
    fileType: reply.file?.type,
    headers: reply.headers ?? {},
    isSecret: reply.secrets !== undefined,
  };
}

export function writeReply(ctx: Context, reply: RenderedReply): void {
  ctx.status = reply.status;
  if (reply.body !== null) {
    ctx.body = reply.body;
    ctx.set('Content-Type', reply.fileType ?? 'application/json; charset=utf-8');
  }
  ctx.set(reply.headers);
  ctx.state.isSecret = reply.isSecret;
}
