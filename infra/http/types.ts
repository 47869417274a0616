import type { RequestProgress } from '../contract/statuses.ts';

/** One request as an adapter words it. At most one of the four bodies. */
export interface ProviderRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  json?: unknown;
  form?: Record<string, string>;
  multipart?: MultipartPart[];
  bytes?: { content: Buffer; contentType: string };
}

export interface MultipartPart {
  name: string;
  filename?: string;
  contentType?: string;
  content: Buffer | string | PartSource;
}

/** Content that is read piece by piece while it is sent; a `MediaFile` is one. `to` is exclusive. */
export interface PartSource {
  readonly bytes: number;
  read(from: number, to: number): Promise<Buffer>;
}

/** A complete answer of at most 2 MiB; anything less is a `TransportFailure`. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  contentType: string | null;
  body: Buffer;
  /** The body as JSON; undefined where it is none, or where the content type does not say that it is. */
  json: any;
}

export const TRANSPORT_ERRORS = ['dns', 'connect', 'tls', 'reset', 'closed', 'timeout_connect', 'timeout_headers', 'timeout_body', 'aborted', 'too_large', 'malformed', 'redirect'] as const;
export type TransportError = (typeof TRANSPORT_ERRORS)[number];

/** How far one request went, observed on the wire. */
export interface Trip {
  progress: RequestProgress;
  connectedAt: Date | null;
  headersSentAt: Date | null;
  bodySentAt: Date | null;
  answerStartedAt: Date | null;
  answeredAt: Date | null;
  bytesSent: number | null;
  bytesReceived: number | null;
}

export interface PartialAnswer {
  status: number;
  contentType: string | null;
  excerpt: Buffer;
}

/** Thrown when no complete answer came. `sent` is observed: false = no byte of the request left. */
export class TransportFailure extends Error {
  readonly error: TransportError;
  readonly trip: Trip;
  /** What was read before it broke, for the evidence; at most 4096 bytes. */
  readonly partial: PartialAnswer | null;

  constructor(error: TransportError, trip: Trip, partial: PartialAnswer | null = null) {
    super(`no complete answer: ${error} after ${trip.progress}`);
    this.name = 'TransportFailure';
    this.error = error;
    this.trip = trip;
    this.partial = partial;
  }

  get sent(): boolean {
    return this.trip.headersSentAt !== null;
  }
}

/** The guard would not let the request out: it will not do so later either. `rule` names no address. */
export class GuardRefusal extends TransportFailure {
  readonly rule: GuardRule;

  constructor(rule: GuardRule, trip: Trip) {
    super('connect', trip);
    this.name = 'GuardRefusal';
    this.message = `the outbound guard refused the address: ${rule}`;
    this.rule = rule;
  }
}

export const GUARD_RULES = ['url', 'too_long', 'userinfo', 'scheme', 'port', 'name', 'address', 'blocked', 'not_the_sandbox'] as const;
export type GuardRule = (typeof GUARD_RULES)[number];

/** The claim was not granted, so nothing was written. */
export class ClaimLost extends Error {
  readonly trip: Trip;

  constructor(trip: Trip) {
    super('the claim was lost before the first byte');
    this.name = 'ClaimLost';
    this.trip = trip;
  }
}

/**
 * Where a request may go: `sandbox` to the host and port of that URL and nowhere else; the others everywhere public,
 * but never to the sandbox. `user`: an address that a person named (also limited in length);
 * `media`: the same of a file to fetch, which may lie on plain http.
 */
export type Reach = { kind: 'platform' } | { kind: 'sandbox'; url: string } | { kind: 'user' } | { kind: 'media' };
