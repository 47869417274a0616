import type Joi from 'joi';
import type { Infra } from '../infra/context.ts';
import type { Mode } from '../infra/contract/platforms.ts';
import type { Tx } from '../infra/db/database.ts';
import type { Actor } from '../infra/db/entities/columns.ts';
import type { Position } from '../infra/db/keyset.ts';
import type { UploadedFile } from './form/form.ts';

export const PERMISSIONS = ['read', 'write', 'reconcile', 'manage_api_keys', 'manage_organization'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Who asks, as proved by the presented secret. The organization comes from here and from nowhere else. */
export interface Caller {
  credentialId: string;
  kind: 'service' | 'member' | 'session';
  organizationId: string;
  mode: Mode;
  permissions: readonly Permission[];
  workspaceScope: 'all' | readonly string[];
  /** What an Idempotency-Key is bound to besides organization and mode. */
  lineage: string;
  actor: Actor;
  organization: { plan: 'free' | 'pro'; quotaMode: 'hard' | 'metered' | 'unlimited'; quotaUnits: number | null; requireWorkspaceId: boolean };
}

/** One request that passed every guard of its route: what a handler is given. */
export interface Call {
  infra: Infra;
  /** The request's one transaction, in the caller's scope. */
  tx: Tx;
  caller: Caller;
  params: Readonly<Record<string, string>>;
  /** Validated, with defaults. */
  query: Readonly<Record<string, any>>;
  body: Readonly<Record<string, any>>;
  /** The uploaded file, never empty. Only on routes with a multipart body. */
  file?: UploadedFile;
  /** Raw request headers, lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  requestId: string;
  now: Date;
  /** Binds a cursor to organization, mode, route, path parameters and filters. */
  cursorBinding: string;
  /** What part of a list is asked for. Only on routes that are `paged`. */
  window?: ListWindow;
  /** How long the reply may wait for the outcome; 0 on routes without `wait`. */
  waitSeconds: number;
  /** Runs after the commit, best effort, and never delays or changes the reply: e.g. telling Temporal at once. */
  afterCommit(work: () => Promise<void>): void;
}

/** The part of a list that a request asks for, after its cursor was found genuine. */
export interface ListWindow {
  limit: number;
  after: Position | null;
  from: Date | null;
  to: Date | null;
}

export interface Reply {
  status: number;
  /** undefined = no body. */
  body?: unknown;
  /** Sent as it is, in place of a body: pages and media of public routes. */
  file?: { type: string; bytes: Buffer };
  headers?: Record<string, string>;
  /** Findings that refused nothing, where they are shown beside the reply. */
  warnings?: { code: string; severity: string; message: string }[];
  /** Workspaces the reply shows; checked again when it is replayed. */
  workspaceIds?: (string | null)[];
  /** Members of the body that are one-time secrets: shown now, not kept for a replay, never compressed. */
  secrets?: string[];
  /**
   * Runs after the commit and answers in place of this reply (`Prefer: wait`). The receipt keeps the reply as of the commit.
   */
  settle?: () => Promise<Reply>;
}

/** A route is data: its guards stand beside its handler, and OpenAPI is made from the same. */
export interface RouteSpec {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** OpenAPI form: `/v1/posts/{id}`. */
  path: string;
  operationId: string;
  summary: string;
  tag: string;
  permission: Permission;
  /** Only with a test key (403 TEST_KEY_REQUIRED otherwise). */
  testOnly?: boolean;
  /** Only with a live key (403 LIVE_KEY_REQUIRED otherwise). */
  liveOnly?: boolean;
  /** Only with scope `all` (403 FORBIDDEN, scope_all_required). */
  wholeOrganization?: boolean;
  /** The noun of the resource a path id names: its 404 code. A malformed id answers the same as an unknown one. */
  pathIds?: Record<string, { prefix: string; notFound: 'NOT_FOUND' | 'POST_NOT_FOUND' | 'ACCOUNT_NOT_FOUND' | 'TARGET_NOT_FOUND' | 'TEMPLATE_NOT_FOUND' | 'TAG_NOT_FOUND'; resource: string }>;
  query?: Joi.ObjectSchema;
  /** Absent = a route without a body: any JSON object is accepted and ignored. */
  body?: Joi.ObjectSchema;
  /** Of the request's body; absent = 4 MiB. */
  bodyMaxBytes?: number;
  /** The body is a form with one part `file`; text parts stand in for parameters that the query does not give. */
  multipart?: { fileMaxBytes: number };
  /** Its transaction may take seconds, so few of them run at once and the others wait for their turn. */
  takesTurns?: boolean;
  /** A list of the body whose elements the handler judges one by one; `body` is then about the envelope only. */
  elements?: string;
  /** `required`: 422 without an Idempotency-Key. `ignored`: no receipt is kept. Absent: optional. */
  idempotencyKey?: 'required' | 'ignored';
  /** Reply schemas by status; every reply in tests is checked against them. */
  replies: Record<number, { description: string; schema?: Joi.Schema; headers?: string[] }>;
  /** Error codes of this route besides those every route can answer. */
  errors: readonly string[];
  /** Takes `Prefer: wait=N`: the reply waits for the outcome, after the commit. */
  wait?: { maxSeconds: number; defaultSeconds: number };
  /** Adds `cursor`, `limit`, `from`, `to` to the query. */
  paged?: boolean;
  /** How a stored reply of a keyed request is shown again; default: byte for byte as stored. */
  replay?: (stored: unknown, call: Call) => Promise<unknown>;
  handler(call: Call): Promise<Reply>;
}

/** What the handler of a route without credential is given: no caller and no transaction. */
export interface PublicCall {
  infra: Infra;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  requestId: string;
  now: Date;
}

/** A route that asks for no credential: documents and health. */
export interface PublicRoute {
  public: true;
  method: 'GET';
  path: string;
  operationId: string;
  summary: string;
  tag: string;
  /** `file`: the media type of a reply that is no JSON. */
  replies: Record<number, { description: string; schema?: Joi.Schema; file?: string; headers?: string[] }>;
  handler(call: PublicCall): Promise<Reply>;
}

export type AnyRoute = RouteSpec | PublicRoute;

export function isPublic(route: AnyRoute): route is PublicRoute {
  return 'public' in route;
}
