import type { IncomingHttpHeaders } from 'node:http';
import type { Account } from '../accounts.ts';
import type { Body } from '../body.ts';
import type { NewEntry, Written } from '../ledger.ts';
import type { Allowance, Bucket } from '../limits.ts';
import type { Reply } from '../reply.ts';
import type { Sandbox } from '../sandbox.ts';
import type { Trace } from '../trace.ts';
import type { Refusal } from '../words.ts';

/** One platform that is played: its routes, and how it says what every platform has to say. A new one is a folder and a line in index.ts. */
export interface PlayedPlatform {
  readonly name: string;
  /** Per host word of the address (38.2). */
  readonly hosts: Readonly<Record<string, readonly Route[]>>;
  readonly replies: PlatformReplies;
  /** The credential in the platform's own place; `null` when there is none there. */
  credential(headers: IncomingHttpHeaders, query: URLSearchParams): string | null;
  allowanceHeaders(allowance: Allowance): Record<string, string>;
  /** Whether the platform's answers hold the address of what was made. Where not, callers make it from the object's id. */
  readonly answersWithUrl: boolean;
  /** What connecting an account here would yield. */
  connected(url: string): { metadata: Record<string, string | number | boolean | null>; scopes: readonly string[]; refreshable: boolean };
  /** How long an access token lives; `null` where it does not end by time. */
  readonly accessTokenSeconds: number | null;
  /** What connecting an account here tells: granted scopes and facts. `address` = where the sandbox plays this platform. */
  readonly connection: { scopes: readonly string[]; metadata(address: string): Record<string, string | number | boolean | null> };
}

export interface PlatformReplies {
  unauthorized(): Reply;
  expired(): Reply;
  revoked(): Reply;
  scopesMissing(): Reply;
  suspended(): Reply;
  rateLimited(bucket: Bucket, waitSeconds: number): Reply;
  unavailable(): Reply;
  notFound(path: string): Reply;
  tooLarge(): Reply;
  refuse(refusal: Refusal, call: Call): Reply;
  duplicate(): Reply;
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/2/tweets/:id` */
  path: string;
  /** Only requests of public routes leave rows in the ledger. */
  effect: 'read' | 'private' | 'public';
  /** The call that makes content public: words without a step act here, and it is the step `publish` when no trace says otherwise. */
  deciding?: boolean;
  /** A listing or lookup that is used to find out what happened: `listing_hidden` acts here. */
  reconciles?: boolean;
  /** Answered without a credential too, and a wrong one is then as good as none. */
  anonymous?: boolean;
  bucket: Bucket;
  handle(call: Call): Promise<Reply | Deed> | Reply | Deed;
}

export interface Call {
  sandbox: Sandbox;
  platform: PlayedPlatform;
  route: Route;
  path: string;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Body;
  /** Set on every route that is not anonymous. */
  account: Account;
  signedIn: boolean;
  trace: Trace;
  /** Step of the plan: from the trace, else `publish` on a deciding route. */
  step: string | null;
  deciding: boolean;
  /** This request followed a redirect that a word had given. */
  followed: boolean;
  /** `drop-midway` was seen at half of the body and had acted before. */
  midwayPassed?: boolean;
  request: NewEntry['request'];
  receivedAt: Date;
}

/** A valid request that would change something, not yet carried out. */
export interface Deed {
  /** Every text of the object, where words are looked for. */
  texts: (string | null)[];
  /** What "the first request for this object" is counted by, beside account and operation. */
  subject: string;
  /** What goes into the ledger; `null` for what nobody sees. */
  entry: NewEntry | null;
  /** Carries out what the ledger does not hold. */
  apply?(): Promise<void>;
  answer(written: Written): Promise<Done> | Done;
}

export interface Done {
  reply: Reply;
  /** The same success without what the platform documents as its proof. */
  withoutProof: Reply;
}

export function isDeed(outcome: Reply | Deed): outcome is Deed {
  return 'texts' in outcome;
}
