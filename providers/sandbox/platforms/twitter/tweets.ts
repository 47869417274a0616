import { twitterIds } from '../../ids.ts';
import { processAgain } from '../../processing.ts';
import { json, type Reply } from '../../reply.ts';
import { ledgerMedia, type StoredMedia } from '../../store/media.ts';
import type { Call, Deed, Done } from '../platform.ts';
import { kindOf, publicationEntry, removalEntry } from '../publication.ts';
import { shownMedia } from './present.ts';
import { mediaInvalid, notFoundReply, problem, replies, textTooLong } from './replies.ts';
import { readTweet, type TweetBody } from './tweet-body.ts';
import { LONG_TEXT_MAX, shownText, TEXT_MAX, weightedLength } from './tweet-text.ts';

const DUPLICATE_WINDOW_MS = 86_400_000;
const DUPLICATE_POSTS = 10;
const MEDIA_LIFETIME_MS = 86_400_000;

/** POST /2/tweets */
export async function createTweet(call: Call): Promise<Reply | Deed> {
  const tweet = readTweet(call.body);
  if ('status' in tweet) return tweet;
  const text = (tweet.text ?? '').normalize('NFC');
  if (weightedLength(text) > (isPremium(call) ? LONG_TEXT_MAX : TEXT_MAX)) return textTooLong();
  if (tweet.edit_options !== undefined) return problem(403, 'Forbidden', 'You are not permitted to edit this Tweet.');
  const missing = await missingReference(call, tweet);
  if (missing !== null) return missing;
  const texts = [text, ...(tweet.poll?.options ?? [])];
  const media = await usableMedia(call, tweet.media?.media_ids ?? [], texts);
  if ('status' in media) return media;
  if (await isDuplicate(call, text, media)) return replies.duplicate();
  return publication(call, { tweet, text, media, texts: [...texts, ...media.map((item) => item.altText)] });
}

export function isPremium(call: Call): boolean {
  return call.account.username.startsWith('premium');
}

async function missingReference(call: Call, tweet: TweetBody): Promise<Reply | null> {
  const references = { 'reply.in_reply_to_tweet_id': tweet.reply?.in_reply_to_tweet_id, quote_tweet_id: tweet.quote_tweet_id };
  for (const [parameter, id] of Object.entries(references)) {
    if (id !== undefined && await call.sandbox.objects.find('twitter', call.account.organizationId, id) === null) return notFoundReply('tweet', parameter, id);
  }
  return null;
}

/** The media in their order, or the refusal: unknown, expired, unfinished and failed ones are all invalid here. */
async function usableMedia(call: Call, ids: string[], texts: string[]): Promise<StoredMedia[] | Reply> {
  const found = await call.sandbox.media.find('twitter', call.account.id, ids);
  const media = await processAgain(call, found, [...texts, ...found.map((item) => item.altText)]);
  const expired = Date.now() - MEDIA_LIFETIME_MS;
  const usable = media.length === ids.length && new Set(ids).size === ids.length
    && media.every((item) => item.state === 'ready' && item.createdAt.getTime() > expired);
  const alone = media.length <= 1 || media.every((item) => item.kind === 'image');
  return usable && alone ? media : mediaInvalid(ids);
}

async function isDuplicate(call: Call, text: string, media: StoredMedia[]): Promise<boolean> {
  if (!call.sandbox.settings.duplicates || media.length > 0) return false;
  const recent = await call.sandbox.objects.recentTexts(call.account.id, new Date(Date.now() - DUPLICATE_WINDOW_MS), DUPLICATE_POSTS);
  return recent.includes(text);
}

function publication(call: Call, { tweet, text, media, texts }: { tweet: TweetBody; text: string; media: StoredMedia[]; texts: (string | null)[] }): Deed {
  const createdAt = new Date();
  const id = twitterIds.next(createdAt.getTime());
  const { text: _, media: __, ...options } = tweet;
  const entry = publicationEntry(call, {
    objectId: id, kind: kindOf(call, { reply: tweet.reply !== undefined, quote: tweet.quote_tweet_id !== undefined }), seq: id, createdAt, text,
    parentId: tweet.reply?.in_reply_to_tweet_id ?? null, media: media.map(ledgerMedia), detail: { ...options, media: media.map(shownMedia) },
  });
  const shown = shownText({ id, text, username: call.account.username, mediaKeys: media.map((item) => item.detail.media_key), kind: 'photo' });
  const data = { edit_history_tweet_ids: [id], id, text: shown.text };
  return {
    texts, subject: text, entry,
    answer: () => ({ reply: json(201, { data }), withoutProof: json(201, { data: { text: shown.text } }) }),
  };
}

/** DELETE /2/tweets/:id */
export async function deleteTweet(call: Call): Promise<Reply | Deed> {
  const id = call.params.id!;
  const tweet = await call.sandbox.objects.stored('twitter', id);
  if (tweet === null || tweet.organizationId !== call.account.organizationId || tweet.state !== 'public') return notFoundReply('tweet', 'id', id);
  if (tweet.accountId !== call.account.id) return problem(403, 'Forbidden', 'You are not authorized to delete this Tweet.');
  const done: Done = { reply: json(200, { data: { deleted: true } }), withoutProof: json(200, { data: {} }) };
  return {
    texts: [tweet.text], subject: id, entry: removalEntry(call, id),
    answer: (written) => (written.outcome === 'done' ? done : { reply: notFoundReply('tweet', 'id', id), withoutProof: notFoundReply('tweet', 'id', id) }),
  };
}
