import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../infra/contract/errors.ts';
import { OPEN_REQUESTS_MAX, URL_MAX_BYTES } from '../../infra/contract/limits.ts';
import { serviceUnavailable } from '../faults.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Context, Middleware } from '../state.ts';

const ONCE_ONLY = new Set(['host', 'authorization', 'content-type', 'content-length', 'idempotency-key']);

/** Marks requests whose Expect header asks for something else than 100-continue; set by the HTTP server. */
export const UNKNOWN_EXPECTATION = Symbol('unknown expectation');

/** Row 3: what Node's parser lets through although two readers could understand it differently. */
export async function refuseAmbiguous(ctx: Context, next: () => Promise<void>): Promise<void> {
  const seen = new Set<string>();
  for (let at = 0; at < ctx.req.rawHeaders.length; at += 2) {
    const name = ctx.req.rawHeaders[at]!.toLowerCase();
    if (ONCE_ONLY.has(name) && seen.has(name)) throw new ApiError('BAD_REQUEST', `Send the header ${name} once.`);
    seen.add(name);
  }
  if ((ctx.req as { [UNKNOWN_EXPECTATION]?: boolean })[UNKNOWN_EXPECTATION] === true) {
    throw new ApiError('BAD_REQUEST', 'The only expectation this service knows is 100-continue.');
  }
  if (!ctx.req.url!.startsWith('/')) ctx.req.url = originForm(ctx);
  await next();
}

/** A target like `http://host/path` means the same as `/path` when the host is the one of the Host header. */
function originForm(ctx: Context): string {
  const target = ctx.req.url!;
  if (target === '*') return target;
  const url = URL.canParse(target) ? new URL(target) : null;
  if (url === null || url.host.toLowerCase() !== (ctx.req.headers.host ?? '').toLowerCase()) {
    throw new ApiError('BAD_REQUEST', 'The request names another host in its target than in its Host header.');
  }
  const afterHost = target.slice(target.indexOf('//') + 2).search(/[/?]/);
  return afterHost === -1 ? '/' : target.slice(target.indexOf('//') + 2 + afterHost).replace(/^\?/, '/?');
}

/** Row 5: a process that ends, or holds too many requests, refuses before it reads a body. */
export function refuseWhileDraining(lifecycle: Lifecycle): Middleware {
  return async function refuseWhileDraining(ctx, next) {
    if (lifecycle.isLeaving) ctx.set('Connection', 'close');
    if (lifecycle.isClosing) throw serviceUnavailable('This process is ending; nothing was done. Send the same request again after Retry-After.');
    if (lifecycle.openRequests > OPEN_REQUESTS_MAX) throw serviceUnavailable('Too many requests are under way; nothing was done. Send the same request again after Retry-After.');
    await next();
  };
}

/** Row 6. */
export async function refuseLongTarget(ctx: Context, next: () => Promise<void>): Promise<void> {
  if (ctx.req.url!.length > URL_MAX_BYTES) throw new ApiError('URI_TOO_LONG', `The URL is longer than ${URL_MAX_BYTES} bytes.`, { details: { limit: URL_MAX_BYTES } });
  await next();
}

/** Row 8. */
export async function refuseBrokenPath(ctx: Context, next: () => Promise<void>): Promise<void> {
  if (!isDecodable(ctx.path)) throw new ApiError('BAD_REQUEST', 'The path is not valid percent-encoded UTF-8.');
  await next();
}

function isDecodable(path: string): boolean {
  if (/%00/.test(path) || !isUtf8(Buffer.from(path, 'latin1'))) return false;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
