import { excerpt, isRecord, unreadable } from '../common/answers.ts';
import { pageUrl } from '../common/pages.ts';
import type { Answer, Candidate, Finding, ProviderHttp, PublishWork, Seen } from '../provider.ts';
import { authorized } from './request.ts';
import { comparable, comparableAddress } from './text.ts';

const BEFORE_MS = 60_000;
const PAGES_MAX = 10;
const CANDIDATES_SHOWN = 10;
const FIELDS = 'max_results=100&tweet.fields=created_at,text,entities,attachments,referenced_tweets,note_tweet&expansions=attachments.media_keys';

type Tweet = Record<string, any>;
type Window = { from: Date; to: Date };

/** Reads the account's own timeline from a minute before the send to its end. */
export async function reconcile(work: PublishWork, since: Date, http: ProviderHttp): Promise<Finding> {
  const window = { from: new Date(since.getTime() - BEFORE_MS), to: work.now };
  const read = await readTimeline(work, window.from, http);
  if (read.broken !== null) return unreadable(read.broken, []);
  const matching = read.tweets.map((tweet) => candidateOf(tweet, work, window.from)).filter((one) => one !== null);
  const taken = new Set(matching.length === 0 ? [] : await work.taken?.(matching.map((one) => one.platform_post_id)));
  return conclude({ candidates: matching.filter((one) => !taken.has(one.platform_post_id)), itemsSeen: read.tweets.length, complete: read.complete, window });
}

async function readTimeline(work: PublishWork, from: Date, http: ProviderHttp): Promise<{ tweets: Tweet[]; complete: boolean; broken: Answer | null }> {
  const tweets: Tweet[] = [];
  const base = `${work.endpoints['api'] ?? ''}/2/users/${encodeURIComponent(work.account.platformAccountId)}/tweets?start_time=${wholeSecond(from)}&${FIELDS}`;
  let token: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const url: string = token === null ? base : `${base}&pagination_token=${encodeURIComponent(token)}`;
    const answer = await http.request(authorized(work, { method: 'GET', url }));
    // An empty timeline has no `data`, but it always has its count.
    if (answer.status !== 200 || typeof answer.json?.meta?.result_count !== 'number') return { tweets, complete: false, broken: answer };
    tweets.push(...(Array.isArray(answer.json.data) ? answer.json.data.filter(isRecord) : []));
    token = typeof answer.json.meta.next_token === 'string' ? answer.json.meta.next_token : null;
    if (token === null) return { tweets, complete: true, broken: null };
  }
  return { tweets, complete: false, broken: null };
}

/** `start_time` takes whole seconds. */
function wholeSecond(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

/** Media keys are ours alone. Without media: equal text, equal references and the right time. */
export function candidateOf(tweet: Tweet, work: PublishWork, from: Date): Candidate | null {
  const { id, created_at: createdAt } = tweet;
  if (typeof id !== 'string' || typeof createdAt !== 'string' || !(Date.parse(createdAt) >= from.getTime() - (from.getTime() % 1_000))) return null;
  const common = { platform_post_id: id, url: pageUrl(work.endpoints, id, work.account.username), created_at: new Date(createdAt).toISOString(), excerpt: excerpt(textOf(tweet)) };
  if (work.media.length > 0) {
    const keys = work.media.map((_file, index) => work.checkpoints[`media_upload_${index + 1}`]?.['media_key']);
    return sameSet(keys, tweet['attachments']?.media_keys) ? { ...common, matched: ['media_ids', 'time', 'author'], conclusive: true } : null;
  }
  if (!sameKind(tweet, work) || comparableText(tweet) !== comparable(work.text ?? '') || !sameSet(wantedReferences(work), referencesOf(tweet))) return null;
  return { ...common, matched: ['text', 'parent', 'time', 'author'], conclusive: true };
}

/** A post without media is never the one with media, whatever its text; likewise with polls. */
function sameKind({ attachments }: Tweet, { options }: PublishWork): boolean {
  const has = (name: string) => Array.isArray(attachments?.[name]) && attachments[name].length > 0;
  return !has('media_keys') && has('poll_ids') === (options['poll'] !== undefined);
}

function textOf(tweet: Tweet): string {
  const note: unknown = tweet['note_tweet']?.text;
  return unescaped(typeof note === 'string' ? note : String(tweet['text'] ?? ''));
}

/** The platform's short addresses become what was written; the one it appends for a quoted post goes. */
function comparableText(tweet: Tweet): string {
  const entities = tweet['note_tweet']?.entities?.urls ?? tweet['entities']?.urls;
  const urls: Record<string, any>[] = Array.isArray(entities) ? entities.filter(isRecord) : [];
  const quoted = referencesOf(tweet).find((one) => one.startsWith('quoted:'))?.slice('quoted:'.length);
  let text = textOf(tweet);
  for (const { url, expanded_url: expanded } of urls) {
    if (typeof url !== 'string' || typeof expanded !== 'string') continue;
    const appended = text.trimEnd().endsWith(url) && (/\/status\/\d+\/(?:photo|video)\/\d+$/.test(expanded) || (quoted !== undefined && expanded.endsWith(`/status/${quoted}`)));
    text = appended ? text.trimEnd().slice(0, -url.length) : text.replaceAll(url, comparableAddress(expanded));
  }
  return comparable(text);
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function referencesOf(tweet: Tweet): string[] {
  const references: unknown = tweet['referenced_tweets'];
  return Array.isArray(references) ? references.filter(isRecord).map((one) => `${one['type']}:${one['id']}`) : [];
}

function wantedReferences({ options }: PublishWork): string[] {
  const references: string[] = [];
  if (options['reply_to'] !== undefined) references.push(`replied_to:${options['reply_to']}`);
  if (options['quote_tweet_id'] !== undefined) references.push(`quoted:${options['quote_tweet_id']}`);
  return references;
}

function sameSet(wanted: readonly unknown[], found: unknown): boolean {
  return Array.isArray(found) && wanted.length === found.length && wanted.every((one) => found.includes(one));
}

function conclude({ candidates, itemsSeen, complete, window }: { candidates: Candidate[]; itemsSeen: number; complete: boolean; window: Window }): Finding {
  const [only] = candidates;
  const found = candidates.length === 1 && only !== undefined ? only : null;
  const shown = candidates.slice(0, CANDIDATES_SHOWN).map((one) => ({ ...one, conclusive: found !== null }));
  const absent = candidates.length === 0 && complete;
  const seen: Seen = {
    kind: 'listing',
    conclusion: found !== null ? 'happened' : absent ? 'did_not_happen' : 'undetermined',
    summary: found !== null ? 'The account\'s timeline holds this post.' : absent ? 'The account\'s timeline, read to the end of the window, does not hold this post.' : `The timeline leaves it open: ${candidates.length} posts match${complete ? '' : ', and it was not read to its end'}.`,
    data: { window_from: window.from.toISOString(), window_to: window.to.toISOString(), items_seen: itemsSeen, complete, candidates: shown },
  };
  if (found !== null) return { kind: 'found', proof: { platformPostId: found.platform_post_id, url: found.url }, seen: [seen] };
  return { kind: absent ? 'not_there' : 'undetermined', seen: [seen] };
}
