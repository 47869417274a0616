import { ERRORS, type ApiError, type Retry } from '../infra/contract/errors.ts';
import { ERROR_MESSAGE_MAX_CHARS } from '../infra/contract/limits.ts';

/** What the reply to an error depends on besides the error. */
export interface ErrorOccasion {
  requestId: string;
  /** A mutation without Idempotency-Key: its client must not be invited to repeat it. */
  unkeyedMutation: boolean;
}

export interface ErrorReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The only writer of error bodies. */
export function errorReply(error: ApiError, occasion: ErrorOccasion): ErrorReply {
  const details = error.status >= 500 ? { ...error.details, request_id: occasion.requestId } : error.details;
  return {
    status: error.status,
    headers: { ...adviceOf(error, occasion), ...error.headers, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error: { ...shownError(error), ...(details === undefined ? {} : { details }) } }),
  };
}

export interface ShownError {
  code: string;
  message: string;
  details?: Record<string, unknown>;
}

/** An error as callers see it, as an answer or as what became of one of many. */
export function shownError({ code, message, details }: Pick<ApiError, 'message' | 'details'> & { code: string }): ShownError {
  const short = message.length > ERROR_MESSAGE_MAX_CHARS ? `${message.slice(0, ERROR_MESSAGE_MAX_CHARS - 1)}…` : message;
  return { code, message: short, ...(details === undefined ? {} : { details }) };
}

function adviceOf(error: ApiError, occasion: ErrorOccasion): Record<string, string> {
  const retry: Retry = ERRORS[error.code].retry;
  const headers: Record<string, string> = {};
  if (retry === 'wait') Object.assign(headers, { 'x-should-retry': 'true', 'Retry-After': '1' });
  else if (retry !== 'read' || (error.code === 'INTERNAL_ERROR' && occasion.unkeyedMutation)) headers['x-should-retry'] = 'false';
  if (error.code === 'MEDIA_PROCESSING_UNAVAILABLE') headers['Retry-After'] = '3600';
  if (error.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  return headers;
}
