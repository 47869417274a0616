import type { CatalogEntry } from '../common/catalog-entry.ts';
import { API_VERSION, capabilities, capabilitiesOf, pacing } from './capabilities.ts';
import { aliases, check, contentBearing, length, normalizeOptions, schema } from './options.ts';
import { postIdFromUrl } from './page.ts';

export const twitterCatalog: CatalogEntry = {
  platform: 'twitter',
  name: 'X',
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
  absenceRule: 'The account\'s own timeline is searched for the same media or text; it can take up to 6 hours to be sure that nothing was posted.',
};
