import { ApiError } from '../infra/contract/errors.ts';

/** The sender closed the connection before its body was complete: there is nobody to answer. */
export class SenderGone extends Error {
  constructor() {
    super('the sender closed the connection');
    this.name = 'SenderGone';
  }
}

/**
 * SQLSTATEs after which the transaction is rolled back and the same request may be sent again:
 * cancelled or timed out, shut down, out of connections, deadlock, serialization failure.
 */
const PASSING_STATES = new Set(['57014', '25P03', '25P04', '57P01', '57P02', '57P03', '57P05', '53300', '53400', '40001', '40P01', '55P03']);
const PASSING_ERRNOS = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOENT']);
/** Errors of the driver that carry no code. */
const PASSING_MESSAGES = /timeout exceeded when trying to connect|Connection terminated|connection error and is not queryable|Client was closed|Cannot use a pool after calling end/;

/** Whether the database did not do it now, but may on the next try. An error's class is not asked: under Jest, Node's own errors are of another realm. */
export function databaseIsAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown };
  return PASSING_STATES.has(String(code)) || PASSING_ERRNOS.has(String(code)) || /^08...$/.test(String(code)) || PASSING_MESSAGES.test(String(message)) || databaseIsAway(cause);
}

export function serviceUnavailable(message = 'The service cannot answer this now; nothing was done. Send the same request again after Retry-After.'): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', message);
}

/** What anything that escaped is answered with. The cause goes to the log, never to the client. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (databaseIsAway(error)) return new ApiError('SERVICE_UNAVAILABLE', serviceUnavailable().message, { cause: error });
  return new ApiError('INTERNAL_ERROR', 'Something failed on our side. Quote the request id.', { cause: error });
}
