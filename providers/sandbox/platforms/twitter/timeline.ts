import { json, type Reply } from '../../reply.ts';
import type { StoredObject } from '../../store/objects.ts';
import type { Account } from '../../accounts.ts';
import type { Call } from '../platform.ts';
import { includedMedia, presentTweet, presentUser } from './present.ts';
import { invalidRequest, notFoundReply, replies, resourceNotFound } from './replies.ts';

const TWEET_FIELDS = [
  'article', 'attachments', 'author_id', 'card_uri', 'community_id', 'context_annotations', 'conversation_id', 'created_at', 'display_text_range', 'edit_controls',
  'edit_history_tweet_ids', 'entities', 'geo', 'id', 'in_reply_to_user_id', 'lang', 'media_metadata', 'non_public_metrics', 'note_tweet', 'organic_metrics',
  'possibly_sensitive', 'promoted_metrics', 'public_metrics', 'referenced_tweets', 'reply_settings', 'scopes', 'source', 'text', 'withheld',
];
const EXPANSIONS = [
  'article.cover_media', 'article.media_entities', 'attachments.media_keys', 'attachments.media_source_tweet', 'attachments.poll_ids', 'author_id',
  'edit_history_tweet_ids', 'entities.mentions.username', 'geo.place_id', 'in_reply_to_user_id', 'entities.note.mentions.username', 'referenced_tweets.id',
  'referenced_tweets.id.attachments.media_keys', 'referenced_tweets.id.author_id',
];
const MEDIA_FIELDS = ['alt_text', 'duration_ms', 'height', 'media_key', 'non_public_metrics', 'organic_metrics', 'preview_image_url', 'promoted_metrics', 'public_metrics', 'type', 'url', 'variants', 'width'];
const USER_FIELDS = [
  'affiliation', 'confirmed_email', 'connection_status', 'created_at', 'description', 'entities', 'id', 'is_identity_verified', 'location', 'most_recent_tweet_id', 'name',
  'parody', 'pinned_tweet_id', 'profile_banner_url', 'profile_image_url', 'protected', 'public_metrics', 'receives_your_dm', 'subscription', 'subscription_type', 'url',
  'username', 'verified', 'verified_followers_count', 'verified_type', 'withheld',
];
const FIELD_LISTS: Readonly<Record<string, readonly string[]>> = {
  'tweet.fields': TWEET_FIELDS, expansions: EXPANSIONS, 'media.fields': MEDIA_FIELDS, 'user.fields': USER_FIELDS,
  'poll.fields': ['duration_minutes', 'end_datetime', 'id', 'options', 'voting_status'],
  'place.fields': ['contained_within', 'country', 'country_code', 'full_name', 'geo', 'id', 'name', 'place_type'],
};
const TIMELINE_PARAMETERS = ['start_time', 'end_time', 'since_id', 'until_id', 'max_results', 'pagination_token', 'exclude'];

/** Refuses unknown parameters and unknown values of field lists. */
function checkQuery(call: Call, own: readonly string[]): Reply | null {
  for (const [name, value] of call.query) {
    const allowed = FIELD_LISTS[name];
    if (allowed === undefined && !own.includes(name)) return invalidRequest(`The query parameter [${name}] is not one of [${[...own, ...Object.keys(FIELD_LISTS)].join(',')}]`, { [name]: [value] });
    const unknown = allowed === undefined ? undefined : value.split(',').find((word) => !allowed.includes(word));
    if (unknown !== undefined) return invalidRequest(`The \`${name}\` query parameter value [${unknown}] is not one of [${allowed!.join(',')}]`, { [name]: [value] });
  }
  return null;
}

const fieldsOf = (call: Call, name: string): ReadonlySet<string> => new Set((call.query.get(name) ?? '').split(','));

/** GET /2/users/:id/tweets */
export async function userTimeline(call: Call): Promise<Reply> {
  const refused = checkQuery(call, TIMELINE_PARAMETERS) ?? checkTimes(call);
  if (refused !== null) return refused;
  const maxResults = Number(call.query.get('max_results') ?? 10);
  if (!Number.isInteger(maxResults) || maxResults < 5 || maxResults > 100) {
    return invalidRequest(`The \`max_results\` query parameter value [${call.query.get('max_results')}] is not between 5 and 100`, { max_results: [call.query.get('max_results') ?? ''] });
  }
  const author = await call.sandbox.accounts.neighbour(call.account, call.params.id!);
  if (author === null) return json(200, { errors: [resourceNotFound('user', 'id', call.params.id!)] });
  const token = call.query.get('pagination_token');
  const page = token === null ? undefined : readToken(token);
  if (page === null) return invalidRequest(`The \`pagination_token\` query parameter value [${token}] is not valid`, { pagination_token: [token!] });
  const time = (name: string): Date | undefined => (call.query.has(name) ? new Date(call.query.get(name)!) : undefined);
  const tweets = await call.sandbox.objects.list(author.id, {
    limit: maxResults + 1, from: time('start_time'), before: time('end_time'), above: call.query.get('since_id') ?? undefined,
    below: page ?? call.query.get('until_id') ?? undefined, withoutReplies: (call.query.get('exclude') ?? '').split(',').includes('replies'),
  });
  if (tweets === null) return replies.unavailable();
  return json(200, timelinePage(call, author, { tweets: tweets.slice(0, maxResults), more: tweets.length > maxResults }));
}

function checkTimes(call: Call): Reply | null {
  for (const name of ['start_time', 'end_time']) {
    const value = call.query.get(name);
    if (value === null) continue;
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/.test(value) || Number.isNaN(Date.parse(value))) {
      return invalidRequest(`The \`${name}\` query parameter value [${value}] is not a valid RFC3339 timestamp`, { [name]: [value] });
    }
  }
  for (const name of ['since_id', 'until_id']) {
    const value = call.query.get(name);
    if (value !== null && !/^[0-9]{1,19}$/.test(value)) return invalidRequest(`The \`${name}\` query parameter value [${value}] does not match ^[0-9]{1,19}$`, { [name]: [value] });
  }
  return null;
}

const readToken = (token: string): string | null => {
  const seq = Buffer.from(token, 'base64url').toString();
  return /^[0-9]{1,19}$/.test(seq) ? seq : null;
};

function timelinePage(call: Call, author: Account, { tweets, more }: { tweets: StoredObject[]; more: boolean }): Record<string, unknown> {
  if (tweets.length === 0) return { meta: { result_count: 0 } };
  const next = more ? { next_token: Buffer.from(tweets.at(-1)!.seq).toString('base64url') } : {};
  return {
    data: tweets.map((tweet) => presentTweet(tweet, author, fieldsOf(call, 'tweet.fields'))),
    ...includes(call, tweets, [author]),
    meta: { result_count: tweets.length, newest_id: tweets[0]!.objectId, oldest_id: tweets.at(-1)!.objectId, ...next },
  };
}

function includes(call: Call, tweets: StoredObject[], authors: Account[]): Record<string, unknown> {
  const expansions = fieldsOf(call, 'expansions');
  const media = expansions.has('attachments.media_keys') ? includedMedia(tweets, fieldsOf(call, 'media.fields'), call.sandbox.settings.baseUrl) : [];
  const included = {
    ...(media.length > 0 ? { media } : {}),
    ...(expansions.has('author_id') ? { users: authors.map((author) => presentUser(author, fieldsOf(call, 'user.fields'))) } : {}),
  };
  return Object.keys(included).length === 0 ? {} : { includes: included };
}

/** GET /2/tweets/:id and GET /2/tweets?ids= */
export async function lookUpTweets(call: Call): Promise<Reply> {
  const single = call.params.id;
  const refused = checkQuery(call, single === undefined ? ['ids'] : []);
  if (refused !== null) return refused;
  const ids = single === undefined ? (call.query.get('ids') ?? '').split(',').filter((id) => id !== '') : [single];
  if (ids.length === 0 || ids.length > 100 || ids.some((id) => !/^[0-9]{1,19}$/.test(id))) return invalidRequest('The `ids` query parameter must hold 1 to 100 ids', { ids: [ids.join(',')] });
  const found = await call.sandbox.objects.many('twitter', call.account.organizationId, ids);
  if (found.some((tweet) => tweet.hidden)) return replies.unavailable();
  const byId = new Map(found.map((tweet) => [tweet.objectId, tweet]));
  const errors = ids.filter((id) => !byId.has(id)).map((id) => resourceNotFound('tweet', single === undefined ? 'ids' : 'id', id));
  const tweets = ids.map((id) => byId.get(id)).filter((tweet) => tweet !== undefined);
  const authors = new Map<string, Account>();
  for (const tweet of tweets) authors.set(tweet.accountId, await call.sandbox.accounts.byId(tweet.accountId) ?? call.account);
  const data = tweets.map((tweet) => presentTweet(tweet, authors.get(tweet.accountId)!, fieldsOf(call, 'tweet.fields')));
  return json(200, {
    ...(data.length === 0 ? {} : { data: single === undefined ? data : data[0] }), ...includes(call, tweets, [...authors.values()]), ...(errors.length === 0 ? {} : { errors }),
  });
}

/** GET /2/users/me and GET /2/users/:id */
export async function lookUpUser(call: Call): Promise<Reply> {
  const refused = checkQuery(call, []);
  if (refused !== null) return refused;
  const id = call.params.id;
  const account = id === undefined ? call.account : await call.sandbox.accounts.neighbour(call.account, id);
  return account === null ? notFoundReply('user', 'id', id!) : json(200, { data: presentUser(account, fieldsOf(call, 'user.fields')) });
}

/** GET https://x.com/{username}/status/{id}: the public page lies with the service. */
export async function statusPage(call: Call): Promise<Reply> {
  const tweet = await call.sandbox.objects.stored('twitter', call.params.id!);
  if (tweet === null || tweet.state !== 'public') return { status: 404, headers: {}, body: Buffer.alloc(0) };
  return { status: 302, headers: { location: tweet.url }, body: Buffer.alloc(0) };
}
