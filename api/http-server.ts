import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../infra/contract/errors.ts';
import { newId } from '../infra/contract/ids.ts';
import { BODY_TIMEOUT_MS, HEADERS_MAX_BYTES, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS } from '../infra/contract/limits.ts';
import { errorReply } from './error-reply.ts';
import { WAITS_FOR_CONTINUE } from './middleware/body-limit.ts';
import { UNKNOWN_EXPECTATION } from './middleware/framing.ts';
import { ALWAYS_SENT } from './middleware/headers.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => unknown;

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** A whole request with a method that Node's parser does not know. */
const UNKNOWN_METHOD = /^[A-Z][A-Z-]{0,31} \S+ HTTP\/1\.[01]\r\n/;
/** Node's own time limit is only the net under the body's: it cannot answer in our form once the handler runs. */
const REQUEST_TIMEOUT_MS = HEADERS_TIMEOUT_MS + BODY_TIMEOUT_MS + 10_000;

/** Rows 1 and 2: the strict HTTP server beneath the application. */
export function createHttpServer(handle: Handler, timeouts: { headersMs?: number } = {}): Server {
  const open = new OpenAnswers();
  const handler: Handler = (req, res) => {
    open.note(res);
    return handle(req, res);
  };
  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: true,
    rejectNonStandardBodyWrites: true,
    maxHeaderSize: HEADERS_MAX_BYTES,
    headersTimeout: timeouts.headersMs ?? HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 500,
  }, handler);
  server.maxHeadersCount = 200;
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => handler(Object.assign(req, { [WAITS_FOR_CONTINUE]: true }), res));
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => handler(Object.assign(req, { [UNKNOWN_EXPECTATION]: true }), res));
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => refuse(socket, methodNotAllowed()));
  server.on('clientError', (error: ClientError, socket: Duplex) => open.closeAfter(socket) || answerClientError(error, socket));
  return server;
}

type ClientError = Error & { code?: string; rawPacket?: Buffer };

/** The answers that a connection still owes to whole requests. */
class OpenAnswers {
  readonly #ofSocket = new WeakMap<Duplex, Set<ServerResponse>>();
  readonly #closing = new WeakSet<Duplex>();

  note(res: ServerResponse): void {
    const { socket } = res.req;
    const open = this.#ofSocket.get(socket) ?? new Set();
    this.#ofSocket.set(socket, open.add(res));
    res.once('close', () => open.delete(res));
  }

  /**
   * Whether there are some: then what came behind those requests is not answered at all, for an answer to it would be taken
   * for theirs, and say that nothing was done. The connection ends after the last of them.
   */
  closeAfter(socket: Duplex): boolean {
    const last = [...(this.#ofSocket.get(socket) ?? [])].findLast((res) => res.req.complete);
    if (last === undefined) return this.#closing.has(socket);
    if (this.#closing.has(socket)) return true;
    this.#closing.add(socket);
    if (!last.headersSent) last.setHeader('Connection', 'close');
    last.once('finish', () => socket.end());
    return true;
  }
}

/** Faults of framing: most get a bodyless 400, because what follows on such a connection cannot be trusted to be a request. */
function answerClientError(error: ClientError, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') return refuse(socket, new ApiError('HEADERS_TOO_LARGE', `Request line and headers are larger than ${HEADERS_MAX_BYTES} bytes.`, { details: { limit: HEADERS_MAX_BYTES } }));
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse(socket, new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time.'));
  if (error.code === 'HPE_INVALID_METHOD' && UNKNOWN_METHOD.test(error.rawPacket?.subarray(0, 9_000).toString('latin1') ?? '')) return refuse(socket, methodNotAllowed());
  socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  return undefined;
}

function methodNotAllowed(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', `This service knows the methods ${METHODS}.`, { headers: { Allow: METHODS } });
}

/** Writes an answer where no request object exists. */
function refuse(socket: Duplex, error: ApiError): void {
  const requestId = newId('request');
  const reply = errorReply(error, { requestId, unkeyedMutation: false });
  const headers = { ...reply.headers, ...ALWAYS_SENT, 'X-Request-Id': requestId, Connection: 'close', 'Content-Length': String(Buffer.byteLength(reply.body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\n${lines}\r\n${reply.body}`);
}
