import type { Platform } from '../infra/contract/platforms.ts';
import type { StepEffect } from '../infra/contract/statuses.ts';
import type { CatalogEntry, EffectiveOptions, MediaKind } from './common/catalog-entry.ts';
import { liveEndpoints, sandboxEndpoints } from './endpoints.ts';
import { mastodonCatalog } from './mastodon/catalog.ts';
import type { AccountView } from './provider.ts';
import { providers } from './registry.ts';
import { twitterCatalog } from './twitter/catalog.ts';

export type {
  AccountFacts, Capabilities, CatalogEntry, CheckedMedia, CheckTarget, EffectiveOptions, MediaKind, PacingRules, RuleIssue, Severity, TextLength,
} from './common/catalog-entry.ts';
export { altTextAt } from './common/media-rules.ts';
export { mediaItemSchema } from './common/options.ts';
export { finalText } from './common/text.ts';

const CATALOG: Partial<Record<Platform, CatalogEntry>> = { twitter: twitterCatalog, mastodon: mastodonCatalog };

/** What is known of a platform without asking anybody; null where there is no adapter yet. */
export function platformCatalog(platform: Platform): CatalogEntry | null {
  return CATALOG[platform] ?? null;
}

interface StepsQuestion {
  text: string | null;
  media: readonly { type: MediaKind | null; altText: string | null }[];
  options: EffectiveOptions;
  now: Date;
}

/** The steps that would make a target public, from what is known without asking anybody. */
export function stepsOf(account: Omit<AccountView, 'displayName'> & { platform: Platform }, { text, media, options, now }: StepsQuestion): { name: string; effect: StepEffect }[] {
  const files = media.map((item) => ({ kind: item.type ?? 'document', mimeType: '', bytes: 0, altText: item.altText, read: async () => Buffer.alloc(0) }));
  const work = { operationId: '', account: { ...account, displayName: null }, credential: {}, endpoints: {}, text, media: files, options, checkpoints: {}, now };
  return providers[account.platform]!.plan(work).map(({ name, effect }) => ({ name, effect }));
}

/** What the address of a post says. `isPlatform: false`: it is an address of somebody else. */
export interface PostAddress {
  isPlatform: boolean;
  postId: string | null;
}

/** Reads an address that a person gave. A sandbox account's posts are at the sandbox, and may be named as the platform names them. */
export function readPostAddress(url: string, account: { platform: Platform; isSandbox: boolean; metadata: Readonly<Record<string, unknown>> }, sandbox: { url: string; baseUrl: string }): PostAddress {
  const { platform } = account;
  const live = liveEndpoints(platform, account.metadata);
  const endpoints = account.isSandbox ? [sandboxEndpoints(platform, sandbox.url, sandbox.baseUrl), live] : [live];
  const origin = URL.parse(url)?.origin;
  const origins = endpoints.flatMap((one) => `${one['page'] ?? ''} ${one['pages_also'] ?? ''}`.split(' ')).map((pattern) => URL.parse(pattern)?.origin);
  if (account.isSandbox) origins.push(URL.parse(sandbox.url)?.origin);
  const ids = endpoints.map((one) => CATALOG[platform]?.postIdFromUrl?.(url, one) ?? null);
  return { isPlatform: origin !== undefined && origins.includes(origin), postId: ids.find((id) => id !== null) ?? null };
}
