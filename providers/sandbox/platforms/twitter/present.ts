import { sampleFor } from '../../samples.ts';
import type { StoredMedia } from '../../store/media.ts';
import type { StoredObject } from '../../store/objects.ts';
import type { Account } from '../../accounts.ts';
import { shownText, TEXT_MAX, weightedLength } from './tweet-text.ts';

/** What a tweet keeps of its media for the replies of the platform. */
export interface ShownMedia {
  media_key: string;
  type: string;
  alt_text: string | null;
  mime_type: string;
}

export function shownMedia(media: StoredMedia): ShownMedia {
  const type = media.kind === 'image' ? 'photo' : media.kind === 'gif' ? 'animated_gif' : 'video';
  return { media_key: media.detail.media_key, type, alt_text: media.altText, mime_type: media.mimeType };
}

/** One tweet with the fields asked for, as the platform presents it. */
export function presentTweet(tweet: StoredObject, author: Account, fields: ReadonlySet<string>): Record<string, unknown> {
  const media: ShownMedia[] = tweet.detail.media ?? [];
  const raw = tweet.text ?? '';
  const full = shownText({ id: tweet.objectId, text: raw, username: author.username, mediaKeys: media.map((item) => item.media_key), kind: media[0]?.type === 'video' ? 'video' : 'photo' });
  const isLong = weightedLength(raw) > TEXT_MAX;
  const shown: Record<string, unknown> = { id: tweet.objectId, text: isLong ? `${[...full.text].slice(0, 275).join('')}…` : full.text, edit_history_tweet_ids: [tweet.objectId] };
  const optional: Record<string, () => unknown> = {
    created_at: () => tweet.createdAt.toISOString(),
    author_id: () => author.platformAccountId,
    conversation_id: () => tweet.detail.conversation_id ?? tweet.parentId ?? tweet.objectId,
    attachments: () => (media.length === 0 ? undefined : { media_keys: media.map((item) => item.media_key) }),
    entities: () => (full.urls.length === 0 || isLong ? undefined : { urls: full.urls }),
    note_tweet: () => (isLong ? { text: full.text, entities: { urls: full.urls } } : undefined),
    referenced_tweets: () => referenced(tweet),
    in_reply_to_user_id: () => undefined,
    reply_settings: () => tweet.detail.reply_settings ?? 'everyone',
    community_id: () => tweet.detail.community_id,
    geo: () => tweet.detail.geo,
    lang: () => 'en',
    possibly_sensitive: () => false,
    source: () => 'Oncepost',
    public_metrics: () => metrics(tweet),
    edit_controls: () => ({ edits_remaining: 5, is_edit_eligible: author.username.startsWith('premium'), editable_until: new Date(tweet.createdAt.getTime() + 3_600_000).toISOString() }),
  };
  for (const [name, make] of Object.entries(optional)) {
    const value = fields.has(name) ? make() : undefined;
    if (value !== undefined) shown[name] = value;
  }
  return shown;
}

function referenced(tweet: StoredObject): unknown {
  const list = [
    ...(tweet.parentId === null ? [] : [{ type: 'replied_to', id: tweet.parentId }]),
    ...(tweet.detail.quote_tweet_id === undefined ? [] : [{ type: 'quoted', id: tweet.detail.quote_tweet_id }]),
  ];
  return list.length === 0 ? undefined : list;
}

/** Grows with the age of the tweet, by a formula that a test can compute. */
function metrics(tweet: StoredObject): Record<string, number> {
  const minutes = Math.floor((Date.now() - tweet.createdAt.getTime()) / 60_000);
  const weight = Number(BigInt(tweet.objectId) % 7n) + 1;
  return {
    retweet_count: Math.floor(minutes / 10), reply_count: Math.floor(minutes / 20), like_count: minutes * weight, quote_count: Math.floor(minutes / 50),
    bookmark_count: Math.floor(minutes / 30), impression_count: minutes * weight * 10,
  };
}

export function includedMedia(tweets: readonly StoredObject[], fields: ReadonlySet<string>, baseUrl: string): Record<string, unknown>[] {
  const byKey = new Map(tweets.flatMap((tweet) => (tweet.detail.media ?? []) as ShownMedia[]).map((media) => [media.media_key, media]));
  return [...byKey.values()].map((media) => ({
    media_key: media.media_key, type: media.type,
    ...(fields.has('url') && media.type === 'photo' ? { url: `${baseUrl}/sandbox/samples/${sampleFor(media.mime_type)}` } : {}),
    ...(fields.has('preview_image_url') && media.type !== 'photo' ? { preview_image_url: `${baseUrl}/sandbox/samples/image.jpg` } : {}),
    ...(fields.has('alt_text') && media.alt_text !== null ? { alt_text: media.alt_text } : {}),
  }));
}

export function presentUser(account: Account, fields: ReadonlySet<string>): Record<string, unknown> {
  const optional: Record<string, unknown> = {
    created_at: '2020-01-01T00:00:00.000Z', description: 'Sandbox account', protected: false, verified: false,
    public_metrics: { followers_count: 100, following_count: 0, tweet_count: 0, listed_count: 0, like_count: 0 },
    subscription_type: account.username.startsWith('premium') ? 'Premium' : 'None', verified_type: account.username.startsWith('premium') ? 'blue' : 'none',
  };
  return {
    id: account.platformAccountId, name: account.displayName, username: account.username,
    ...Object.fromEntries(Object.entries(optional).filter(([name]) => fields.has(name))),
  };
}
