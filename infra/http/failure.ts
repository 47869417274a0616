import type { TransportError } from './types.ts';

/** We ended it ourselves, and know why. */
export class Stopped extends Error {
  readonly transport: TransportError;

  constructor(transport: TransportError) {
    super(`stopped: ${transport}`);
    this.name = 'Stopped';
    this.transport = transport;
  }
}

/** No connection came about. `stage` is where it ended; `refused`: our own guard ended it. */
export class ConnectFailed extends Error {
  readonly transport: TransportError;
  readonly refused: boolean;

  constructor(cause: unknown, stage: 'connect' | 'tls') {
    super('no connection');
    this.name = 'ConnectFailed';
    const code = codeOf(cause);
    this.refused = code === 'ERR_IP_BLOCKED';
    if (cause instanceof Stopped) this.transport = cause.transport;
    else if (code === 'ENOTFOUND' || code.startsWith('EAI_')) this.transport = 'dns';
    else this.transport = stage;
  }
}

const BY_CODE: Record<string, TransportError> = {
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  ETIMEDOUT: 'reset',
  UND_ERR_ABORTED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
  UND_ERR_HEADERS_TIMEOUT: 'timeout_headers',
  UND_ERR_BODY_TIMEOUT: 'timeout_body',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'closed',
};

/** The word for what ended an exchange. Whether the request had been sent is the trip's affair, never read from here. */
export function transportErrorOf(error: unknown): TransportError {
  if (error instanceof Stopped || error instanceof ConnectFailed) return error.transport;
  const code = codeOf(error);
  if (code === 'UND_ERR_SOCKET') return error instanceof Error && /^(other side )?closed$/.test(error.message) ? 'closed' : 'malformed';
  return BY_CODE[code] ?? 'malformed';
}

function codeOf(error: unknown): string {
  const code = error !== null && typeof error === 'object' && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
