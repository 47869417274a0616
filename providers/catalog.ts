import type { Platform } from '../infra/contract/platforms.ts';
import type { CatalogEntry } from './common/catalog-entry.ts';
import { liveEndpoints, sandboxEndpoints } from './endpoints.ts';
import { mastodonCatalog } from './mastodon/catalog.ts';
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
