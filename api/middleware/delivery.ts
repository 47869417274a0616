import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { OVERFLOW_DRAIN_MAX_BYTES } from '../../infra/contract/limits.ts';
import type { Context } from '../state.ts';

const COMPRESS_FROM_BYTES = 1024;
const DRAIN_MAX_MS = 2_000;
/** Pictures and films are compressed already. */
const COMPRESSIBLE = /^(?:text\/|application\/json$)/;
const BODYLESS = new Set(['GET', 'HEAD', 'OPTIONS']);
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Outermost: how a finished reply leaves. Compression, and the rest of a body that nobody will read. */
export async function delivery(ctx: Context, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.respond === false) return;
  await compress(ctx);
  if (hasUnreadBody(ctx.req)) await answerAndClose(ctx);
}

async function compress(ctx: Context): Promise<void> {
  const { body } = ctx;
  if (!Buffer.isBuffer(body) || body.length < COMPRESS_FROM_BYTES || ctx.state.isSecret === true || !COMPRESSIBLE.test(ctx.response.type)) return;
  ctx.vary('Accept-Encoding');
  const encoding = ctx.get('Accept-Encoding') === '' ? false : ctx.acceptsEncodings('br', 'gzip', 'identity');
  if (encoding !== 'br' && encoding !== 'gzip') return;
  ctx.body = encoding === 'br' ? await promisify(brotliCompress)(body, BROTLI) : await promisify(gzip)(body);
  ctx.set('Content-Encoding', encoding);
}

/** A body that came whole with its request costs nothing to forget; one of a GET is never looked at. */
function hasUnreadBody(req: IncomingMessage): boolean {
  const announced = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  return announced && (!req.complete || BODYLESS.has(req.method!));
}

/**
 * Answers a request whose body is not wanted and closes. The answer is written whole first; then a little of the body is read
 * and thrown away, because closing on unread bytes resets the connection and the client might never see the answer.
 */
async function answerAndClose(ctx: Context): Promise<void> {
  const { req, res, body } = ctx;
  ctx.respond = false;
  ctx.set('Connection', 'close');
  const bytes = Buffer.isBuffer(body) && ctx.method !== 'HEAD' ? body : null;
  if (bytes === null) {
    if (ctx.method !== 'HEAD' && ctx.status !== 204 && ctx.status !== 304) ctx.set('Content-Length', '0');
    res.flushHeaders();
  } else {
    ctx.set('Content-Length', String(bytes.length));
    res.write(bytes);
  }
  if (!BODYLESS.has(ctx.method) && ctx.status !== 408) await drain(req);
  res.end();
}

async function drain(req: IncomingMessage): Promise<void> {
  let bytes = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MAX_MS);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > OVERFLOW_DRAIN_MAX_BYTES) {
        req.pause();
        stop();
      }
    });
    req.once('end', stop).once('close', stop).once('error', stop);
    req.resume();
  });
}
