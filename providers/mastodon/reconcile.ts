import { excerpt, isRecord, unreadable } from '../common/answers.ts';
import { finalText } from '../common/text.ts';
import type { Answer, Candidate, Finding, ProviderHttp, PublishWork, Seen } from '../provider.ts';
import { referenceId } from './publish.ts';
import { isWebUrl } from './replies.ts';
import { onInstance } from './request.ts';

const BEFORE_MS = 60_000;
const PAGE = 40;
const PAGES_MAX = 10;
const SOURCES_MAX = 20;
const CANDIDATES_SHOWN = 10;

type Status = Record<string, any>;
interface Listing {
  statuses: Status[];
  complete: boolean;
  broken: Answer | null;
}

/** Reads the account's own statuses back to a minute before the send. */
export async function reconcile(work: PublishWork, since: Date, http: ProviderHttp): Promise<Finding> {
  const from = new Date(since.getTime() - BEFORE_MS);
  const listing = await readStatuses(work, from, http);
  if (listing.broken !== null) return unreadable(listing.broken, []);
  const alike = await withoutTaken(work, listing.statuses.filter((status) => isAlike(status, work)));
  if (work.media.length > 0) return conclude({ work, from, listing, matching: alike, matched: ['media_ids', 'time', 'author'] });
  const matching: Status[] = [];
  for (const status of alike.slice(0, SOURCES_MAX)) {
    const answer = await http.request(onInstance(work, `/api/v1/statuses/${encodeURIComponent(status['id'])}/source`));
    // Removed since it was listed: it cannot be told apart any more, so nothing may be concluded from its absence.
    if (answer.status === 404) listing.complete = false;
    else if (answer.status !== 200 || typeof answer.json?.text !== 'string') return unreadable(answer, []);
    else if (!isSameText(answer.json, work)) continue;
    else if (isPlacedAlike(status, work)) matching.push(status);
    // Servers change what they are given (a silenced account's visibility, the parent of a reply to a boost): neither proof nor absence.
    else listing.complete = false;
  }
  if (alike.length > SOURCES_MAX) listing.complete = false;
  return conclude({ work, from, listing, matching, matched: ['text', 'parent', 'time', 'author'] });
}

async function readStatuses(work: PublishWork, from: Date, http: ProviderHttp): Promise<Listing> {
  const me = work.account.platformAccountId.split('@')[0] ?? '';
  const path = `/api/v1/accounts/${encodeURIComponent(me)}/statuses?limit=${PAGE}&exclude_reblogs=true`;
  const statuses: Status[] = [];
  let before: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer: Answer = await http.request(onInstance(work, before === null ? path : `${path}&max_id=${encodeURIComponent(before)}`));
    if (answer.status !== 200 || !Array.isArray(answer.json)) return { statuses, complete: false, broken: answer };
    const read = answer.json.filter((one): one is Status => isRecord(one) && typeof one['id'] === 'string' && !Number.isNaN(Date.parse(one['created_at'])));
    if (read.length !== answer.json.length) return { statuses, complete: false, broken: answer };
    const within = read.filter((status) => Date.parse(status['created_at']) >= from.getTime());
    statuses.push(...within);
    // Newest first: something older ends the window. A short page does not, servers leave out what is filtered.
    if (read.length === 0 || within.length < read.length) return { statuses, complete: true, broken: null };
    before = read.at(-1)?.['id'] ?? null;
  }
  return { statuses, complete: false, broken: null };
}

/** What no server changes. With media: our attachment ids, which nothing else can have. */
function isAlike(status: Status, work: PublishWork): boolean {
  const attachments: Status[] = Array.isArray(status['media_attachments']) ? status['media_attachments'].filter(isRecord) : [];
  if (work.media.length > 0) {
    const ids = work.media.map((_file, index) => work.checkpoints[`media_${index + 1}`]?.['id']);
    return attachments.length === ids.length && ids.every((id) => attachments.some((one) => one['id'] === id));
  }
  const poll = isRecord(status['poll']) === (work.options['poll'] !== undefined);
  return attachments.length === 0 && poll;
}

function isPlacedAlike(status: Status, work: PublishWork): boolean {
  return status['visibility'] === work.options['visibility'] && (status['in_reply_to_id'] ?? null) === referenceId('in_reply_to', work);
}

/** Servers trim, and take a warning without a text for the text. */
export function isSameText(source: Status, work: PublishWork): boolean {
  const plain = (text: unknown) => finalText(typeof text === 'string' ? text : '').trim();
  const spoiler = plain(work.options['spoiler_text']);
  const text = plain(work.text);
  if (text === '' && spoiler !== '') return [plain(source['text']), plain(source['spoiler_text'])].includes(spoiler);
  return plain(source['text']) === text && plain(source['spoiler_text']) === spoiler;
}

async function withoutTaken(work: PublishWork, statuses: Status[]): Promise<Status[]> {
  const taken = new Set(statuses.length === 0 ? [] : await work.taken?.(statuses.map((one) => String(one['id']))));
  return statuses.filter((one) => !taken.has(one['id']));
}

interface Ending {
  work: PublishWork;
  from: Date;
  listing: Listing;
  matching: Status[];
  matched: Candidate['matched'];
}

function conclude({ work, from, listing, matching, matched }: Ending): Finding {
  const [only] = matching;
  const found = matching.length === 1 && only !== undefined ? only : null;
  const absent = matching.length === 0 && listing.complete;
  const seen: Seen = {
    kind: 'listing',
    conclusion: found !== null ? 'happened' : absent ? 'did_not_happen' : 'undetermined',
    summary: found !== null ? 'The account\'s statuses hold this post.' : absent ? 'The account\'s statuses, read to the start of the window, do not hold this post.' : `The account's statuses leave it open: ${matching.length} match${listing.complete ? '' : ', and they could not all be read'}.`,
    data: {
      window_from: from.toISOString(), window_to: work.now.toISOString(), items_seen: listing.statuses.length, complete: listing.complete,
      candidates: matching.slice(0, CANDIDATES_SHOWN).map((status) => candidateOf(status, matched, found !== null)),
    },
  };
  if (found !== null) return { kind: 'found', proof: { platformPostId: found['id'], url: isWebUrl(found['url']) ? found['url'] : null }, seen: [seen] };
  return { kind: absent ? 'not_there' : 'undetermined', seen: [seen] };
}

function candidateOf(status: Status, matched: Candidate['matched'], conclusive: boolean): Candidate {
  const text = String(status['content'] ?? '').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim();
  return { platform_post_id: status['id'], url: isWebUrl(status['url']) ? status['url'] : null, created_at: new Date(status['created_at']).toISOString(), excerpt: excerpt(text), matched, conclusive };
}
