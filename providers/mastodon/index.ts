import type { Provider } from '../provider.ts';
import { postIdFromUrl } from './page.ts';
import { honoursKeys, plan, send, stillKeyed } from './publish.ts';
import { reconcile } from './reconcile.ts';

/**
 * Mastodon and servers that speak like it. Only Mastodon itself is known to honour Idempotency-Key, for an hour, and it
 * writes the key after the status: two requests at once may both be carried out. So even a keyed repetition comes after a read.
 */
export const mastodon: Provider = {
  platform: 'mastodon',
  plan,
  send,
  reconcile: (_step, work, since, http) => reconcile(work, since, http),
  stillKeyed,
  absence: (work) => (honoursKeys(work) && work.options['visibility'] !== 'direct' ? { afterMs: 600_000, reads: 2 } : null),
  postIdFromUrl: (url, { endpoints }) => postIdFromUrl(url, endpoints),
};
