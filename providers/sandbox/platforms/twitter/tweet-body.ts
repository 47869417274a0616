import { parseJson, type Body } from '../../body.ts';
import type { Reply } from '../../reply.ts';
import { invalidRequest } from './replies.ts';

export interface TweetBody {
  text?: string;
  media?: { media_ids: string[]; tagged_user_ids?: string[] };
  poll?: { options: string[]; duration_minutes: number; reply_settings?: string };
  reply?: { in_reply_to_tweet_id: string; exclude_reply_user_ids?: string[]; auto_populate_reply_metadata?: boolean };
  quote_tweet_id?: string;
  reply_settings?: string;
  community_id?: string;
  share_with_followers?: boolean;
  geo?: { place_id: string };
  for_super_followers_only?: boolean;
  nullcast?: boolean;
  card_uri?: string;
  direct_message_deep_link?: string;
  made_with_ai?: boolean;
  paid_partnership?: boolean;
  edit_options?: { previous_post_id: string };
}

type Check = (value: unknown, path: string) => string | null;

const DIGITS = /^[0-9]{1,19}$/;
const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value);
const expects = (type: string): Check => (value, path) => (typeOf(value) === type ? null : `${path}: ${typeOf(value)} found, ${type} expected`);

const string: Check = expects('string');
const boolean: Check = expects('boolean');
const id: Check = (value, path) => string(value, path)
  ?? (DIGITS.test(value as string) ? null : `${path}: does not match the regex pattern ^[0-9]{1,19}$`);
const oneOf = (words: readonly string[]): Check => (value, path) => (words.includes(value as string) ? null : `${path}: does not have a value in the enumeration [${words.join(', ')}]`);
const integer = (min: number, max: number): Check => (value, path) => expects('integer')(value, path)
  ?? ((value as number) < min ? `${path}: must have a minimum value of ${min}` : (value as number) > max ? `${path}: must have a maximum value of ${max}` : null);
const length = (min: number, max: number): Check => (value, path) => string(value, path)
  ?? ([...(value as string)].length < min ? `${path}: must be at least ${min} characters long` : [...(value as string)].length > max ? `${path}: may only be ${max} characters long` : null);
const list = (min: number, max: number, item: Check): Check => (value, path) => {
  if (!Array.isArray(value)) return `${path}: ${typeOf(value)} found, array expected`;
  if (value.length < min) return `${path}: there must be a minimum of ${min} items in the array`;
  if (value.length > max) return `${path}: there must be a maximum of ${max} items in the array`;
  return first(value.map((entry, index) => item(entry, `${path}[${index}]`)));
};
const closed = (required: readonly string[], fields: Readonly<Record<string, Check>>): Check => (value, path) => {
  if (typeOf(value) !== 'object') return `${path}: ${typeOf(value)} found, object expected`;
  const given = value as Record<string, unknown>;
  const missing = required.find((name) => given[name] === undefined);
  if (missing !== undefined) return `${path}.${missing}: is missing but it is required`;
  return first(Object.entries(given).map(([name, field]) => (Object.hasOwn(fields, name)
    ? fields[name]!(field, `${path}.${name}`)
    : `${path}.${name}: is not defined in the schema and the schema does not allow additional properties`)));
};
const first = (faults: (string | null)[]): string | null => faults.find((fault) => fault !== null) ?? null;

const REPLY_SETTINGS = ['following', 'mentionedUsers', 'subscribers', 'verified'];

const TWEET = closed([], {
  text: string,
  media: closed(['media_ids'], { media_ids: list(1, 4, id), tagged_user_ids: list(0, 10, id) }),
  poll: closed(['options', 'duration_minutes'], { options: list(2, 4, length(1, 25)), duration_minutes: integer(5, 10_080), reply_settings: oneOf(REPLY_SETTINGS) }),
  reply: closed(['in_reply_to_tweet_id'], { in_reply_to_tweet_id: id, exclude_reply_user_ids: list(0, 50, id), auto_populate_reply_metadata: boolean }),
  quote_tweet_id: id,
  reply_settings: oneOf(REPLY_SETTINGS),
  community_id: id,
  share_with_followers: boolean,
  geo: closed(['place_id'], { place_id: string }),
  for_super_followers_only: boolean,
  nullcast: boolean,
  card_uri: string,
  direct_message_deep_link: string,
  made_with_ai: boolean,
  paid_partnership: boolean,
  edit_options: closed(['previous_post_id'], { previous_post_id: id }),
});

/** Fields that exclude each other: a post has one attachment. */
const ATTACHMENTS = ['media', 'poll', 'quote_tweet_id', 'card_uri', 'direct_message_deep_link'] as const;

export function readTweet(body: Body): TweetBody | Reply {
  if (!/^application\/json\b/i.test(body.contentType)) return invalidRequest('Requests with bodies must have content-type of application/json.');
  const value = parseJson(body);
  if (value === undefined) return invalidRequest('Invalid JSON');
  const fault = TWEET(value, '$');
  if (fault !== null) return invalidRequest(fault);
  const tweet = value as TweetBody;
  const attachments = ATTACHMENTS.filter((name) => tweet[name] !== undefined);
  if (attachments.length > 1) return invalidRequest(`$: only one of [${attachments.join(', ')}] may be given`);
  if ((tweet.text ?? '').trim() === '' && tweet.media === undefined && tweet.card_uri === undefined) {
    return invalidRequest('The `text` field is required unless media is attached.', { text: [tweet.text ?? ''] });
  }
  if (tweet.poll !== undefined && new Set(tweet.poll.options).size < tweet.poll.options.length) return invalidRequest('$.poll.options: the items in the array must be unique');
  return tweet;
}
