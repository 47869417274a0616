import type Joi from 'joi';
import type { Platform } from '../../infra/contract/platforms.ts';

export type MediaKind = 'image' | 'video' | 'gif' | 'document';
export type Range = { min: number; max: number };

/** A list of media must match one of these; a missing kind means none of it. This is the mix rule in full. */
export type Combination = { readonly [kind in MediaKind | 'total']?: Range };

export interface KindRules {
  kind: MediaKind;
  mimeTypes: readonly string[];
  maxBytes?: number;
  minWidth?: number;
  minHeight?: number;
  maxWidth?: number;
  maxHeight?: number;
  maxPixels?: number;
  minAspect?: number;
  maxAspect?: number;
  minDurationMs?: number;
  maxDurationMs?: number;
  maxFps?: number;
  maxFrames?: number;
  codecs?: readonly string[];
  delivery: 'upload' | 'pull' | 'link' | 'inline';
}

export interface ContentTypeRules {
  name: string;
  text: 'required' | 'optional' | 'ignored' | 'forbidden';
  media: readonly Combination[];
  kinds: readonly KindRules[];
}

export interface TextRules {
  max: number;
  counting: 'weighted' | 'graphemes_and_bytes' | 'graphemes_mastodon' | 'utf16' | 'utf16_after_markup' | 'code_points' | 'code_points_emoji_bytes' | 'bytes';
  unit: 'characters' | 'graphemes' | 'utf16' | 'bytes' | 'weighted';
  perUrl: number | null;
  markup: 'plain' | 'markdown_reddit' | 'markdown_discord' | 'html_telegram' | 'little_text' | 'html' | 'facets';
  /** The account may report another maximum. */
  overridable: boolean;
}

export interface PollRules {
  minOptions: number;
  maxOptions: number;
  optionMax: number;
  minDurationMinutes: number;
  maxDurationMinutes: number;
  multiple: boolean;
  withMedia: boolean;
}

/** What a platform can do, after what its account reports was laid over the catalog's figures. */
export interface Capabilities {
  /** The first is the default. */
  contentTypes: readonly ContentTypeRules[];
  text: TextRules;
  altText: { supported: boolean; kinds: readonly MediaKind[]; max: number | null };
  poll: PollRules | null;
  threads: { supported: boolean; how: 'reply_chain' | 'comments' | 'none'; maxItems: number; media: boolean; delay: boolean };
}

export interface PacingRules {
  minGapSeconds: number;
  dailyBudget: number | null;
  windows: readonly { limit: number; seconds: number; per: 'account' | 'app' | 'recipient' | 'destination'; counts: 'publish' | 'reply' | 'delete' | 'media' | 'any' }[];
  reads: { limit: number; seconds: number } | null;
}

export interface AccountFacts {
  username?: string | null;
  metadata: Readonly<Record<string, unknown>>;
  facts: Readonly<Record<string, unknown>>;
}

export interface CheckedMedia {
  type: MediaKind | null;
  alt_text?: string | null;
  mime_type?: string | null;
  bytes?: number | null;
  width?: number | null;
  height?: number | null;
  duration_ms?: number | null;
  /** false: the figures are the caller's hints about a remote file, so what they break is a warning. */
  measured?: boolean;
}

export interface CheckTarget {
  text: string | null;
  media: readonly CheckedMedia[];
  /** Effective options, from `normalizeOptions`. */
  options: EffectiveOptions;
  account: AccountFacts;
  draft: boolean;
}

export type EffectiveOptions = Readonly<Record<string, any>>;
export type Severity = 'error' | 'warning' | 'info';

/** One finding of preflight. `path` begins with `content`, `media` or `options`; the API knows which layer that was. */
export interface RuleIssue {
  code: string;
  severity: Severity;
  message: string;
  fix: string;
  path: (string | number)[];
  details: Record<string, unknown>;
}

export interface TextLength {
  value: number;
  limit: number;
  unit: TextRules['unit'];
  perUrl: number | null;
}

/** All that the service knows of a platform without asking anybody. */
export interface CatalogEntry {
  readonly platform: Platform;
  readonly name: string;
  readonly apiVersion: string;
  readonly capabilities: Capabilities;
  /** The catalog's figures with those of the account laid over. */
  capabilitiesOf(account: AccountFacts): Capabilities;
  /** Schema of one layer of options: closed, strict, aliases known, `null` = not set. Turns integers that stand for ids into strings. */
  readonly optionsSchema: Joi.ObjectSchema;
  /** From layers in their order (validated, names as sent; one merged layer will do) to the effective options: aliases resolved, nulls gone, defaults applied. */
  normalizeOptions(...layers: readonly Readonly<Record<string, unknown>>[]): EffectiveOptions;
  /** Main name by alias. */
  readonly aliases: Readonly<Record<string, string>>;
  check(target: CheckTarget): RuleIssue[];
  length(target: Pick<CheckTarget, 'text' | 'options' | 'account'>): TextLength;
  /** Whether these options alone are something to publish. */
  contentBearing(options: EffectiveOptions, hasText: boolean): boolean;
  /** Reads the platform's id out of the address of a post; null = not one of its addresses. Absent where no id is in them. */
  postIdFromUrl?(url: string, endpoints: Readonly<Record<string, string>>): string | null;
  readonly pacing: PacingRules;
  readonly probing: 'search' | 'unavailable';
  /** One sentence: how an unknown outcome is settled, and when absence counts. */
  readonly absenceRule: string;
}
