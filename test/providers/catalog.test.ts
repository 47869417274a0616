import { expect, test } from '@jest/globals';
import { PLATFORMS } from '../../infra/contract/platforms.ts';
import { platformCatalog, type CheckedMedia, type CheckTarget } from '../../providers/catalog.ts';
import { providers } from '../../providers/registry.ts';

const twitter = platformCatalog('twitter')!;
const mastodon = platformCatalog('mastodon')!;
const account = { metadata: { max_characters: 500 }, facts: { max_media_attachments: 4 } };
type Given = Omit<Partial<CheckTarget>, 'options'> & { options?: Record<string, unknown> };

function codesOf(entry: typeof twitter, { options = {}, ...more }: Given): string[] {
  const issues = entry.check({ text: 'Hello', media: [], account, draft: false, ...more, options: entry.normalizeOptions(options) });
  return issues.map((one) => `${one.severity[0]?.toUpperCase()} ${(one.details['rule'] as string | undefined) ?? one.code}`);
}

test('every adapter is in the catalog, and nothing else is', () => {
  for (const platform of PLATFORMS) expect([platform, platformCatalog(platform)?.platform]).toEqual([platform, providers[platform]?.platform]);
});

const image: CheckedMedia = { type: 'image', alt_text: 'A cat', mime_type: 'image/png', bytes: 1_000 };
const of = (...types: CheckedMedia['type'][]): CheckedMedia[] => types.map((type) => ({ type, alt_text: type === 'video' ? null : 'x', bytes: 1 }));

test.each<[string, Given, string[]]>([
  ['280', { text: 'a'.repeat(280) }, []],
  ['281', { text: 'a'.repeat(281) }, ['E CONTENT_TOO_LONG']],
  ['281 in a draft', { text: 'a'.repeat(281), draft: true }, ['W CONTENT_TOO_LONG']],
  ['281 with long posts', { text: 'a'.repeat(281), account: { metadata: { long_posts: true }, facts: {} } }, []],
  ['blanks at the end', { text: `${'a'.repeat(280)}  \n` }, []],
  ['control characters', { text: 'a\u0007b' }, ['E FORBIDDEN_CHARACTERS']],
  ['two cashtags', { text: '$AAA $BBB' }, ['W ONE_CASHTAG']],
  ['nothing', { text: ' ' }, ['E CONTENT_REQUIRED']],
  ['an image', { text: null, media: [image] }, []],
  ['an image of the wrong type', { media: [{ ...image, mime_type: 'image/tiff' }] }, ['E UNSUPPORTED_MEDIA_TYPE']],
  ['an image too large', { media: [{ ...image, bytes: 5_000_001 }] }, ['E FILE_TOO_LARGE']],
  ['an image that is said to be too large', { media: [{ ...image, bytes: 5_000_001, measured: false }] }, ['W FILE_TOO_LARGE']],
  ['a remote file without facts', { media: [{ type: 'image', alt_text: 'x', measured: false }] }, ['W MEDIA_FACTS_UNKNOWN']],
  ['an image without alt text', { media: [{ ...image, alt_text: null }] }, ['I ALT_TEXT_MISSING']],
  ['an alt text too long', { media: [{ ...image, alt_text: 'x'.repeat(1_001) }] }, ['E ALT_TEXT_TOO_LONG']],
  ['an alt text of a video', { media: [{ type: 'video', alt_text: 'x', bytes: 1 }] }, ['W ALT_TEXT_UNSUPPORTED']],
  ['a short video', { media: [{ type: 'video', bytes: 1, duration_ms: 100 }] }, ['E DURATION_TOO_SHORT']],
  ['a long video', { media: [{ type: 'video', bytes: 1, duration_ms: 140_001 }] }, ['E DURATION_TOO_LONG']],
  ['a wide gif', { media: [{ type: 'gif', alt_text: 'x', bytes: 1, width: 1281, height: 10 }] }, ['E DIMENSIONS_TOO_LARGE']],
  ['five images', { media: of('image', 'image', 'image', 'image', 'image') }, ['E TOO_MANY_IMAGES']],
  ['two videos', { media: of('video', 'video') }, ['E TOO_MANY_VIDEOS']],
  ['two gifs', { media: of('gif', 'gif') }, ['E TOO_MANY_MEDIA']],
  ['a document', { media: of('document') }, ['E UNSUPPORTED_MEDIA_TYPE', 'W ALT_TEXT_UNSUPPORTED']],
  ['a mix', { media: of('image', 'video') }, ['E INVALID_MEDIA_MIX']],
  ['an unknown kind', { media: [{ type: null, alt_text: 'x' }, image] }, ['W MEDIA_TYPE_AMBIGUOUS']],
  ['more alt texts than files', { options: { alt_texts: ['a'] } }, ['E ALT_TEXTS_TOO_MANY']],
  ['a schedule of the platform', { options: { publish_at: 'x' } }, ['E PROVIDER_SCHEDULE_UNSUPPORTED']],
  ['a draft of the platform', { options: { published: false } }, ['E PROVIDER_DRAFT_UNSUPPORTED']],
  ['what changes nothing', { options: { published: true, reel_state: 'PUBLISHED' } }, []],
  ['a poll with media', { media: [image], options: { poll: { options: ['a', 'b'] } } }, ['E POLL_WITH_MEDIA']],
  ['a poll without text', { text: '', options: { poll: { options: ['a', 'b'] } } }, ['E CONTENT_REQUIRED', 'E POLL_REQUIRES_TEXT_POST']],
  ['a poll with a quote', { options: { poll: { options: ['a', 'b'] }, quote_to: '1' } }, ['E POLL_EXCLUDES_QUOTE']],
  ['a reply in a community', { options: { reply_to: '1', community_id: '2' } }, ['E REPLY_IN_COMMUNITY']],
  ['exclusions without a reply', { options: { exclude_reply_user_ids: ['1'] } }, ['E REPLY_OPTION_REQUIRES_REPLY_TO']],
  ['reply settings on a reply', { options: { reply_to: '1', reply_settings: 'following' } }, ['E REPLY_SETTINGS_ON_REPLY']],
  ['a quote with media', { media: [image], options: { quote_tweet_id: '1' } }, ['E QUOTE_WITH_MEDIA']],
  ['a quote without the access level', { options: { quote_tweet_id: '1' }, account: { metadata: {}, facts: { quotes: false } } }, ['E QUOTE_ACCESS_LEVEL']],
  ['sharing without a community', { options: { share_with_followers: true } }, ['E REQUIRES_COMMUNITY']],
  ['tags without an image', { options: { tagged_user_ids: ['1'] } }, ['E TAGS_REQUIRE_IMAGE']],
  ['a warning without media', { options: { sensitive_media_warning: { other: true } } }, ['E SENSITIVE_MEDIA_REQUIRES_MEDIA']],
])('twitter: %s', (_name, given, codes) => {
  expect(codesOf(twitter, given)).toEqual(codes);
});

test('twitter counts as the platform does', () => {
  const value = (text: string) => twitter.length({ text, options: {}, account }).value;
  expect([value('→'), value('…'), value('e\u0301'), value('👩‍👩‍👧‍👧'), value('see https://example.com/a/very/long/path now'), value('x.com'), value('日本')]).toEqual([2, 2, 1, 2, 31, 23, 4]);
  expect(value('a\r\nb')).toBe(3);
});

// Counting that is not linear would take longer than any test may.
test('no text makes the count slow', () => {
  for (const text of ['a.'.repeat(50_000), `${'a-'.repeat(50_000)}.com`, 'a '.repeat(50_000), ' '.repeat(100_000), '@a.'.repeat(33_000), 'https://'.repeat(12_000), '👩‍👩‍👧‍👧'.repeat(9_000)]) {
    twitter.length({ text, options: {}, account });
    mastodon.length({ text, options: {}, account });
  }
});

test.each<[string, Given, string[]]>([
  ['500', { text: 'a'.repeat(500) }, []],
  ['501', { text: 'a'.repeat(501) }, ['E CONTENT_TOO_LONG']],
  ['a warning counts with the text', { text: 'a'.repeat(499), options: { spoiler_text: 'cw' } }, ['E CONTENT_TOO_LONG']],
  ['an instance with more', { text: 'a'.repeat(501), account: { metadata: { max_characters: 500 }, facts: { max_characters: 1_000 } } }, []],
  ['an instance that nobody asked yet', { account: { metadata: {}, facts: {} } }, ['I LIMIT_ASSUMED']],
  ['five images', { media: of('image', 'image', 'image', 'image', 'image') }, ['E TOO_MANY_IMAGES']],
  ['five images where six are allowed', { media: of('image', 'image', 'image', 'image', 'image'), account: { metadata: { max_characters: 500 }, facts: { max_media_attachments: 6 } } }, []],
  ['a file type that the instance lacks', { media: [image], account: { metadata: { max_characters: 500 }, facts: { max_media_attachments: 4, mime_types: ['image/jpeg'] } } }, ['E UNSUPPORTED_MEDIA_TYPE']],
  ['audio', { media: [{ type: 'document', alt_text: 'x', mime_type: 'audio/mpeg', bytes: 1 }] }, []],
  ['a PDF', { media: [{ type: 'document', alt_text: 'x', mime_type: 'application/pdf', bytes: 1 }] }, ['E UNSUPPORTED_MEDIA_TYPE']],
  ['a poll with media', { media: [image], options: { poll: { options: ['a', 'b'] } } }, ['E POLL_WITH_MEDIA']],
  ['a poll with more options than the instance has', { options: { poll: { options: ['a', 'b', 'c', 'd', 'e'] } } }, ['E POLL_INSTANCE_LIMIT']],
  ['a quote where there are none', { options: { quote_to: '1' }, account: { metadata: { max_characters: 500 }, facts: { quotes: false } } }, ['E QUOTE_UNSUPPORTED']],
  ['more focal points than files', { options: { focal_points: [{ x: 0, y: 0 }] } }, ['E FOCAL_POINTS_TOO_MANY']],
  ['a thumbnail without a video', { media: [image], options: { thumbnail_media_id: `med_${'0'.repeat(32)}` } }, ['E VIDEO_OPTION_REQUIRES_VIDEO']],
])('mastodon: %s', (_name, given, codes) => {
  expect(codesOf(mastodon, given)).toEqual(codes);
});

test('mastodon counts addresses, handles and what a reader sees', () => {
  const value = (text: string, options = {}) => mastodon.length({ text, options, account }).value;
  expect([value('👩‍👩‍👧‍👧'), value('@bob@example.com hi'), value('see https://example.com/a/very/long/path.'), value('mail a@b.example'), value('x', { spoiler_text: 'ab' })]).toEqual([1, 7, 28, 16, 3]);
  expect(mastodon.length({ text: 'https://example.com', options: {}, account: { metadata: {}, facts: { characters_reserved_per_url: 30 } } })).toEqual({ value: 30, limit: 500, unit: 'graphemes', perUrl: 30 });
});

test.each<[string, typeof twitter, unknown, [string, (string | number)[]] | null]>([
  ['nothing', twitter, {}, null],
  ['null for any option', twitter, { poll: null, content: null, reply_to: null, publish_at: null }, null],
  ['an unknown name', twitter, { visibility: 'public' }, ['object.unknown', ['visibility']]],
  ['an unknown name within', twitter, { poll: { options: ['a', 'b'], x: 1 } }, ['object.unknown', ['poll', 'x']]],
  ['what comes later', twitter, { threads: [] }, ['object.unknown', ['threads']]],
  ['a number for a text', twitter, { content: 1 }, ['string.base', ['content']]],
  ['a text for a boolean', twitter, { made_with_ai: 'true' }, ['boolean.base', ['made_with_ai']]],
  ['another content type', twitter, { content_type: 'reel' }, ['any.only', ['content_type']]],
  ['both names', twitter, { quote_tweet_id: '1', quote_to: '1' }, ['alias.both', ['quote_to']]],
  ['an alias', twitter, { quote_to: 'https://x.com/a/status/1' }, null],
  ['an id that is none', twitter, { community_id: 'abc' }, ['string.pattern.base', ['community_id']]],
  ['a poll option too long', twitter, { poll: { options: ['a', 'b'.repeat(26)] } }, ['string.max', ['poll', 'options', 1]]],
  ['25 characters of two units', twitter, { poll: { options: ['a', '👍'.repeat(25)] } }, null],
  ['media without an address', twitter, { media: [{ type: 'image' }] }, ['object.missing', ['media', 0]]],
  ['media with credentials in the address', twitter, { media: [{ url: 'https://u:p@example.com/a.png' }] }, ['string.uri', ['media', 0, 'url']]],
  ['null among alt texts', mastodon, { alt_texts: [null, 'x', ''] }, null],
  ['a language that is none', mastodon, { language: 'english' }, ['string.pattern.base', ['language']]],
  ['two durations', mastodon, { poll: { options: ['a', 'b'], expires_in: 300, duration_minutes: 5 } }, ['object.oxor', ['poll']]],
  ['a focus outside', mastodon, { focal_points: [null, { x: 2, y: 0 }] }, ['number.max', ['focal_points', 1, 'x']]],
  ['a media id that is none', mastodon, { thumbnail_media_id: 'med_1' }, ['string.pattern.base', ['thumbnail_media_id']]],
])('options schema: %s', (_name, entry, value, fault) => {
  const detail = entry.optionsSchema.validate(value).error?.details[0];
  expect(detail === undefined ? null : [detail.type, detail.path]).toEqual(fault);
});

test('layers resolve as one option under all its names, and null takes it out', () => {
  expect(twitter.normalizeOptions({ reply_to: '1' }, { reply_to_tweet_id: '2' }, { reply_to: '3' })['reply_to']).toBe('3');
  expect(twitter.normalizeOptions({ reply_to: '1' }, { reply_to_tweet_id: null })['reply_to']).toBeUndefined();
  expect(twitter.normalizeOptions({ content: 'a' }, { content: ' ' })['content']).toBe('a');
  expect(mastodon.normalizeOptions({ sensitive: false, spoiler_text: 'x' })['sensitive']).toBe(false);
});

test('what alone is something to publish', () => {
  expect([twitter.contentBearing({ content: 'x' }, false), twitter.contentBearing({ media: [{}] }, false), twitter.contentBearing({ poll: {} }, true), twitter.contentBearing({ poll: {} }, false), twitter.contentBearing({}, true)]).toEqual([true, true, true, false, false]);
});
