import type { Platform } from '../infra/contract/platforms.ts';
import type { CatalogEntry } from './common/catalog-entry.ts';
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
