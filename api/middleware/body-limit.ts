import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../infra/contract/errors.ts';
import { BODY_TIMEOUT_MS, JSON_BODY_MAX_BYTES } from '../../infra/contract/limits.ts';
import { SenderGone } from '../faults.ts';
import { readForm } from '../form/form.ts';
import { decodeJson } from '../json/scan.ts';
import { isPublic, type RouteSpec } from '../route.ts';
import type { Context, Middleware } from '../state.ts';

/** The client waits for `100 Continue`; set by the HTTP server. */
export const WAITS_FOR_CONTINUE = Symbol('waits for 100 Continue');

const READS_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Rows 19 to 24: type and encoding are judged before a byte is read, sizes while reading, structure before a tree is built. */
export function readBody(options: { timeoutMs?: number } = {}): Middleware {
  return async function readBody(ctx, next) {
    if (READS_BODY.has(ctx.method)) await takeBody(ctx, options.timeoutMs ?? BODY_TIMEOUT_MS);
    await next();
  };
}

async function takeBody(ctx: Context, timeoutMs: number): Promise<void> {
  const { req, state } = ctx;
  const waits = (req as { [WAITS_FOR_CONTINUE]?: boolean })[WAITS_FOR_CONTINUE] === true;
  const declared = declaredLength(req);
  const chunked = req.headers['transfer-encoding'] !== undefined;
  if (!chunked && declared === 0) return;
  const route = state.route !== undefined && !isPublic(state.route) ? state.route : undefined;
  const limit = route === undefined ? 0 : (route.bodyMaxBytes ?? JSON_BODY_MAX_BYTES);
  const reader = new BodyReader(req, { limit, timeoutMs });
  // A chunked body may turn out to be empty, and an empty body has no type to judge.
  if (chunked && !waits && (await reader.isEmpty())) return;
  if (route?.multipart === undefined) refuseNoJson(req);
  else refuseNoForm(req);
  refuseEncoding(req);
  if (declared > Number.MAX_SAFE_INTEGER) throw new ApiError('BAD_REQUEST', 'Content-Length is not a usable number.');
  if (declared > limit) throw tooLarge(limit);
  if (waits) ctx.res.writeContinue();
  state.rawBody = await reader.all();
  if (state.rawBody.length === 0) return;
  if (route?.multipart === undefined) state.decodedBody = decodeJson(state.rawBody);
  else state.form = await readForm(state.rawBody, req.headers['content-type']!, { ...route.multipart, fields: parameterNames(route) });
}

/** Text parts stand in for parameters of the query. */
function parameterNames(route: RouteSpec): string[] {
  return Object.keys((route.query?.describe().keys as object | undefined) ?? {});
}

function declaredLength(req: IncomingMessage): number {
  return Number(req.headers['content-length'] ?? 0);
}

function refuseNoJson(req: IncomingMessage): void {
  const [type = '', ...parameters] = typeOf(req);
  const charsets = parameters.filter((parameter) => parameter.startsWith('charset=')).map((parameter) => parameter.slice(8).replaceAll('"', ''));
  if (!(type === 'application/json' || /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+\+json$/.test(type)) || charsets.some((charset) => charset !== 'utf-8')) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json (or a type ending in +json) in UTF-8.');
  }
}

function refuseNoForm(req: IncomingMessage): void {
  if (typeOf(req)[0] !== 'multipart/form-data') throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as multipart/form-data with one part named file.');
}

/** Media type and its parameters, in lower case. */
function typeOf(req: IncomingMessage): string[] {
  return (req.headers['content-type'] ?? '').toLowerCase().split(';').map((part) => part.trim());
}

function refuseEncoding(req: IncomingMessage): void {
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity') throw new ApiError('UNSUPPORTED_CONTENT_ENCODING', 'Send the body uncompressed, without Content-Encoding.');
}

function tooLarge(limit: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes.`, { details: { limit } });
}

/** Reads a request's body within a byte limit and a time limit. What it leaves unread is the HTTP server's to drain or cut. */
class BodyReader {
  readonly #req: IncomingMessage;
  readonly #limit: number;
  readonly #deadline: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(req: IncomingMessage, options: { limit: number; timeoutMs: number }) {
    this.#req = req;
    this.#limit = options.limit;
    this.#deadline = performance.now() + options.timeoutMs;
  }

  async isEmpty(): Promise<boolean> {
    await this.#until(() => this.#size > 0);
    return this.#size === 0;
  }

  async all(): Promise<Buffer> {
    if (this.#size > this.#limit) throw tooLarge(this.#limit);
    await this.#until(() => this.#size > this.#limit);
    if (this.#size > this.#limit) throw tooLarge(this.#limit);
    return Buffer.concat(this.#chunks, this.#size);
  }

  /** Takes chunks until the body ends or `isEnough`. */
  async #until(isEnough: () => boolean): Promise<void> {
    const req = this.#req;
    if (req.readableEnded || isEnough()) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        req.pause();
        req.off('data', onData).off('end', onEnd).off('aborted', onGone).off('error', onGone).off('close', onGone);
        act();
      };
      const onEnd = () => settle(resolve);
      const onGone = () => settle(() => reject(new SenderGone()));
      const onData = (chunk: Buffer) => {
        this.#chunks.push(chunk);
        this.#size += chunk.length;
        if (isEnough()) settle(resolve);
      };
      const timer = setTimeout(() => settle(() => reject(new ApiError('REQUEST_TIMEOUT', 'The body did not arrive in time.'))), Math.max(1, this.#deadline - performance.now()));
      req.on('data', onData).on('end', onEnd).on('aborted', onGone).on('error', onGone).on('close', onGone);
      req.resume();
    });
  }
}
