import type { OutcomeCode } from '../infra/contract/errors.ts';
import type { Platform } from '../infra/contract/platforms.ts';
import type { StepEffect } from '../infra/contract/statuses.ts';
import type { Answer, ProviderRequest } from '../infra/http/types.ts';

/** What an adapter promises to be. Adapters know their platform and nothing else: no database, no Temporal, no Koa, no addresses. */
export interface Provider {
  readonly platform: Platform;
  /** The short list of steps that makes this target public, from what is known without asking anybody. */
  plan(work: PublishWork): PlannedStep[];
  /** Carries out one step: one request for a public step, as many as needed for others. Throws `TransportFailure` untouched. */
  send(step: PlannedStep, work: PublishWork, http: ProviderHttp): Promise<StepAnswer>;
  /** Looks on the platform for what a lost answer may have done. Read-only. */
  reconcile(step: PlannedStep, work: PublishWork, since: Date, http: ProviderHttp): Promise<Finding>;
  /** Whether the platform still honours the key of this step, asked anew. To be called before a keyed step is repeated; absent = it does. */
  stillKeyed?(work: PublishWork, http: ProviderHttp): Promise<boolean>;
  /** When absence may be concluded from complete reads; `null` = never. Live figures: sandbox waits are the caller's affair. */
  absence(work: PublishWork): { afterMs: number; reads: number } | null;
  /** Waits before automatic reads, when they differ from the service's schedule (reads that cost money). */
  readonly probeAfterMs?: readonly number[];
  /** Reads the platform id out of a URL that a person gave with a verdict; `null` = not a URL of this platform. */
  postIdFromUrl(url: string, work: { account: AccountView; endpoints: Endpoints }): string | null;
  /** Renews an expired credential, where the platform has that. One request. */
  refresh?(work: { account: AccountView; credential: Credential; endpoints: Endpoints; application: ApplicationCredential | null }, http: ProviderHttp): Promise<RefreshAnswer>;
}

export type Endpoints = Readonly<Record<string, string>>;
/** Secret. Lives in memory for one step; never in a log, an error or a checkpoint. */
export type Credential = Readonly<Record<string, string>>;
export interface ApplicationCredential {
  clientId: string;
  clientSecret: string | null;
}

export interface AccountView {
  id: string;
  platformAccountId: string;
  username: string | null;
  displayName: string | null;
  metadata: Readonly<Record<string, unknown>>;
  /** What was last read about the account or its server (limits, version), and when. */
  facts: Readonly<Record<string, unknown>>;
  factsAt: Date | null;
}

export interface PublishWork {
  operationId: string;
  account: AccountView;
  credential: Credential;
  endpoints: Endpoints;
  text: string | null;
  media: readonly MediaFile[];
  /** Effective options, validated by the platform's own schema, aliases resolved, defaults applied. */
  options: Readonly<Record<string, any>>;
  /** Results of finished steps, by step name. */
  checkpoints: Readonly<Record<string, Checkpoint>>;
  now: Date;
  /** Of these platform ids, those that other targets of the account, or other attempts at this one, already hold: they cannot be what a lost answer made. */
  taken?(platformPostIds: readonly string[]): Promise<readonly string[]>;
}

export interface MediaFile {
  kind: 'image' | 'video' | 'gif' | 'document';
  mimeType: string;
  bytes: number;
  altText: string | null;
  /** The bytes from `from` up to, not including, `to`; all of them without. May be called again. */
  read(from?: number, to?: number): Promise<Buffer>;
}

/** What a finished step leaves for the next ones. No secrets. */
export type Checkpoint = Readonly<Record<string, string | number | boolean | null>>;

export interface PlannedStep {
  /** `[a-z0-9_]{1,64}`, unique within the plan. */
  name: string;
  effect: StepEffect;
  /** false: its failure is a warning and never decides the operation. */
  required: boolean;
  /** public_keyed: the key sent, and how long the platform honours it. */
  key?: { value: string; windowMs: number };
  /** How long the result stays usable by a later attempt. */
  lifetimeMs?: number;
  /** A step that waits for the platform: each wait in turn, then the last one again, all together at most `withinMs`. */
  poll?: { afterMs: readonly number[]; withinMs: number };
}

/** Proof that something is public now. */
export interface Proof {
  platformPostId: string;
  url: string | null;
}

export type StepAnswer =
  | { kind: 'done'; checkpoint: Checkpoint; providerId: string | null; proof?: Proof; facts?: Record<string, unknown> }
  /** A documented refusal: nothing was done and nothing will change by itself. */
  | { kind: 'refused'; error: ProviderRefusal; answer: Answer }
  /** A documented answer that proves that nothing was done, and asks for time. `afterMs: null` = no figure given (then the step's `poll`, or the service's own waits). */
  | { kind: 'wait'; reason: 'rate_limited' | 'processing'; afterMs: number | null; answer: Answer }
  /** The credential was refused, so nothing was done; worth one refresh. */
  | { kind: 'expired'; error: ProviderRefusal; answer: Answer }
  /** Nothing was done, because results of earlier private steps are gone: make them anew, once. A second time it is the refusal `error`. */
  | { kind: 'redo'; steps: readonly string[]; error: ProviderRefusal; answer: Answer }
  /** Answered, but without the documented proof and without a documented refusal. */
  | { kind: 'unclear'; missingProof: string | null; answer: Answer };

export interface ProviderRefusal {
  code: OutcomeCode;
  platformCode: string | null;
  platformMessage: string | null;
  /** When the platform said it may work again. */
  retryAt?: Date | null;
}

export type Finding =
  | { kind: 'found'; proof: Proof; seen: Seen[] }
  /** A complete read that would have shown it and did not. */
  | { kind: 'not_there'; seen: Seen[] }
  | { kind: 'undetermined'; seen: Seen[] }
  | { kind: 'unreadable'; reason: 'rate_limited' | 'token_expired' | 'permission' | 'unavailable' | 'malformed'; httpStatus: number | null; seen: Seen[] };

/** One observation, in the form of the evidence resource. */
export type Seen =
  | { kind: 'object_read'; conclusion: Conclusion; summary: string; data: { object: string; found: boolean; http_status: number; state: string | null; url: string | null; fields: Record<string, string> } }
  | { kind: 'listing'; conclusion: Conclusion; summary: string; data: { window_from: string; window_to: string; items_seen: number; complete: boolean; candidates: Candidate[] } };

export type Conclusion = 'happened' | 'did_not_happen' | 'undetermined';

export interface Candidate {
  platform_post_id: string;
  url: string | null;
  created_at: string;
  excerpt: string;
  matched: ('media_ids' | 'asset' | 'text' | 'link' | 'key' | 'parent' | 'time' | 'author' | 'token')[];
  conclusive: boolean;
}

export type RefreshAnswer =
  | { kind: 'renewed'; credential: Credential; expiresAt: Date | null }
  | { kind: 'refused'; error: ProviderRefusal }
  | { kind: 'unclear' };

/** The port that reaches the platform. For a public step it opens a fresh connection, claims, and only then writes. */
export interface ProviderHttp {
  request(request: ProviderRequest): Promise<Answer>;
}

export { TRANSPORT_ERRORS, TransportFailure } from '../infra/http/types.ts';
export type { Answer, MultipartPart, PartSource, ProviderRequest, TransportError, Trip } from '../infra/http/types.ts';
