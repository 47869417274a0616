import { ApiError } from '../infra/contract/errors.ts';
import { MUTATION_REPLY_MAX_BYTES } from '../infra/contract/limits.ts';
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

/** As `renderReply`, inside the transaction whose reply it is. What is too large for a receipt is refused without a key too, so that a key makes no difference. */
export function renderMutation(reply: Reply): RenderedReply {
  const rendered = renderReply(reply);
  if (rendered.body !== null && rendered.body.length > MUTATION_REPLY_MAX_BYTES) {
    throw new ApiError('PAYLOAD_TOO_LARGE', 'What this request makes is more than one reply can show, so nothing was done. Split it into several requests.', { details: { limit: MUTATION_REPLY_MAX_BYTES, actual: rendered.body.length } });
  }
  return rendered;
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
