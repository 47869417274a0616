import type { Middleware as KoaMiddleware, ParameterizedContext } from 'koa';
import type { ApiError } from '../infra/contract/errors.ts';
import type { Form, UploadedFile } from './form/form.ts';
import type { AnyRoute, Caller, ListWindow } from './route.ts';

/** What the middleware of one request tell each other, in the order in which they learn it. */
export interface RequestState {
  requestId: string;
  startedAt: number;
  route?: AnyRoute;
  pathParams: Record<string, string>;
  search: URLSearchParams;
  caller?: Caller;
  idempotencyKey?: string;
  /** The body as sent; empty when there was none. */
  rawBody: Buffer;
  /** The decoded body; undefined when there was none. */
  decodedBody: unknown;
  /** The decoded form of a route with a multipart body. */
  form?: Form;
  /** The reply shows a one-time secret. */
  isSecret?: boolean;
  input?: ValidInput;
  /** What the schema found wrong. It answers only after the receipt was asked, because a replay comes first. */
  fault?: ApiError;
}

export interface ValidInput {
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  file?: UploadedFile;
  window?: ListWindow;
  waitSeconds: number;
}

export type Context = ParameterizedContext<RequestState>;
export type Middleware = KoaMiddleware<RequestState>;
