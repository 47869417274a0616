import type { CatalogEntry } from '../common/catalog-entry.ts';
import { API_VERSION, capabilities, capabilitiesOf, pacing } from './capabilities.ts';
import { aliases, check, contentBearing, length, normalizeOptions, schema } from './options.ts';
import { postIdFromUrl } from './page.ts';

export const mastodonCatalog: CatalogEntry = {
  platform: 'mastodon',
  name: 'Mastodon',
  apiVersion: API_VERSION,
  capabilities,
  capabilitiesOf,
  optionsSchema: schema,
  normalizeOptions,
  aliases,
  check,
  length,
  contentBearing,
  postIdFromUrl,
  pacing,
  probing: 'search',
  absenceRule: 'The account\'s posts are searched for the same media or source text.',
};
