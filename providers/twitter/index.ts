import type { Provider } from '../provider.ts';
import { postIdFromUrl } from './page.ts';
import { plan, send } from './publish.ts';
import { reconcile } from './reconcile.ts';
import { refresh } from './refresh.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * X, API v2. No key of any kind: a lost answer of `publish` is never sent again. Its refusal of repeated texts (403) is a
 * hint and never a permission. Not confirmed: whether threads of one's own are exempt from the rule about replies.
 */
export const twitter: Provider = {
  platform: 'twitter',
  plan,
  send,
  reconcile: (_step, work, since, http) => reconcile(work, since, http),
  // Not confirmed that the own timeline lists posts of a community or for subscribers: their absence from it proves nothing.
  absence: ({ options }) => (options['community_id'] || options['for_super_followers_only'] ? null : { afterMs: 6 * HOUR_MS, reads: 3 }),
  // Every read costs money.
  probeAfterMs: [MINUTE_MS, 15 * MINUTE_MS, 6 * HOUR_MS, 24 * HOUR_MS],
  postIdFromUrl: (url, { endpoints }) => postIdFromUrl(url, endpoints),
  refresh,
};
