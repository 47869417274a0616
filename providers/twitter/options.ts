import Joi from 'joi';
import { checkMedia } from '../common/media-rules.ts';
import type { CheckTarget, EffectiveOptions, RuleIssue, TextLength } from '../common/catalog-entry.ts';
import { IssueList } from '../common/issues.ts';
import { checkNever, commonContentBearing, digits, optionsSchema, resolveOptions, text } from '../common/options.ts';
import { checkText, finalText } from '../common/text.ts';
import { capabilitiesOf } from './capabilities.ts';
import { cashtags, weightedLength } from './text.ts';

const STATUS_URL = /^https?:\/\/(?:www\.|mobile\.)?(?:x|twitter)\.com\/(?:[^/]+|i\/web)\/status\/([0-9]{1,19})(?:[/?#].*)?$/i;
const POLL_MINUTES = 1_440;

export const aliases = { reply_to_tweet_id: 'reply_to', quote_to: 'quote_tweet_id' } as const;

const statusId = () => Joi.alternatives(digits(), Joi.string().pattern(STATUS_URL));

export const schema = optionsSchema({
  contentTypes: ['post'],
  aliases,
  own: {
    poll: Joi.object({ options: Joi.array().items(text(1, 25)).min(2).max(4).required(), duration_minutes: Joi.number().integer().min(5).max(10_080) }),
    reply_to: statusId(),
    exclude_reply_user_ids: Joi.array().items(digits()).min(1).max(50),
    reply_settings: Joi.string().valid('everyone', 'following', 'mentionedUsers', 'subscribers', 'verified'),
    quote_tweet_id: statusId(),
    community_id: digits(),
    share_with_followers: Joi.boolean(),
    tagged_user_ids: Joi.array().items(digits()).min(1).max(10).unique(),
    place_id: Joi.string().pattern(/^[0-9a-f]{1,32}$/),
    sensitive_media_warning: Joi.object({ adult_content: Joi.boolean(), graphic_violence: Joi.boolean(), other: Joi.boolean() }).min(1),
    made_with_ai: Joi.boolean(),
    paid_partnership: Joi.boolean(),
    for_super_followers_only: Joi.boolean(),
  },
});

export function normalizeOptions(...layers: readonly Readonly<Record<string, unknown>>[]): EffectiveOptions {
  const defaults = { content_type: 'post', reply_settings: 'everyone', share_with_followers: false, made_with_ai: false, paid_partnership: false, for_super_followers_only: false };
  const options = resolveOptions(layers, { aliases, defaults });
  for (const name of ['reply_to', 'quote_tweet_id', 'community_id']) if (options[name] !== undefined) options[name] = idOf(options[name]);
  for (const name of ['exclude_reply_user_ids', 'tagged_user_ids']) if (options[name] !== undefined) options[name] = options[name].map(String);
  if (options['poll'] !== undefined) options['poll'] = { duration_minutes: POLL_MINUTES, ...options['poll'] };
  return options;
}

function idOf(value: string | number): string {
  return STATUS_URL.exec(String(value))?.[1] ?? String(value);
}

export function contentBearing(options: EffectiveOptions, hasText: boolean): boolean {
  return commonContentBearing(options) || (options['poll'] !== undefined && hasText);
}

export function length({ text, account }: Pick<CheckTarget, 'text' | 'account'>): TextLength {
  const { max, unit, perUrl } = capabilitiesOf(account).text;
  return { value: weightedLength(text), limit: max, unit, perUrl };
}

export function check(target: CheckTarget): RuleIssue[] {
  const list = new IssueList(target.draft);
  const hasText = finalText(target.text) !== '';
  if (!hasText && target.media.length === 0) {
    list.error({ code: 'CONTENT_REQUIRED', message: 'There is neither text nor media.', fix: 'Give a text or a file.', path: ['content'], details: {} });
  }
  checkText(list, target, length(target));
  if (cashtags(target.text) > 1) {
    list.warning({ code: 'TOO_MANY_HASHTAGS', message: 'Most applications may use one cashtag in a post.', fix: 'Keep one $symbol.', path: ['content'], details: { rule: 'ONE_CASHTAG', limit: 1 } });
  }
  checkMedia(list, target, capabilitiesOf(target.account));
  checkNever(list, target.options);
  checkPoll(list, target, hasText);
  checkRelations(list, target);
  return list.issues;
}

function checkPoll(list: IssueList, { options, media }: CheckTarget, hasText: boolean): void {
  if (options['poll'] === undefined) return;
  if (!hasText) list.option({ code: 'OPTION_INVALID', rule: 'POLL_REQUIRES_TEXT_POST', option: 'poll', message: 'A poll needs a text.', fix: 'Add the question as text.' });
  if (media.length > 0) list.option({ code: 'OPTION_CONFLICT', rule: 'POLL_WITH_MEDIA', option: 'poll', message: 'A post has a poll or media, not both.', fix: 'Remove one of them.', details: { conflicts_with: ['media'] } });
  if (options['quote_tweet_id'] !== undefined) {
    list.option({ code: 'OPTION_CONFLICT', rule: 'POLL_EXCLUDES_QUOTE', option: 'poll', message: 'A post has a poll or a quote, not both.', fix: 'Remove one of them.', details: { conflicts_with: ['quote_tweet_id'] } });
  }
}

type Relation = { broken: boolean; code: 'OPTION_CONFLICT' | 'OPTION_REQUIRES_MEDIA' | 'OPTION_UNSUPPORTED'; rule: string; option: string; message: string; fix: string; details?: Record<string, unknown> };

function checkRelations(list: IssueList, { options, media, account }: CheckTarget): void {
  const given = (name: string) => options[name] !== undefined;
  const relations: Relation[] = [
    {
      broken: given('reply_to') && given('community_id'), code: 'OPTION_CONFLICT', rule: 'REPLY_IN_COMMUNITY', option: 'reply_to',
      message: 'A reply cannot be put into a community.', fix: 'Remove reply_to or community_id.', details: { conflicts_with: ['community_id'] },
    },
    {
      broken: given('exclude_reply_user_ids') && !given('reply_to'), code: 'OPTION_CONFLICT', rule: 'REPLY_OPTION_REQUIRES_REPLY_TO', option: 'exclude_reply_user_ids',
      message: 'This is an option of replies.', fix: 'Give reply_to, or remove it.', details: { conflicts_with: ['reply_to'] },
    },
    {
      broken: options['reply_settings'] !== 'everyone' && given('reply_to'), code: 'OPTION_CONFLICT', rule: 'REPLY_SETTINGS_ON_REPLY', option: 'reply_settings',
      message: 'Replies take the setting of their conversation.', fix: 'Remove reply_settings.', details: { conflicts_with: ['reply_to'] },
    },
    {
      broken: given('quote_tweet_id') && media.length > 0, code: 'OPTION_CONFLICT', rule: 'QUOTE_WITH_MEDIA', option: 'quote_tweet_id',
      message: 'A post has a quote or media, not both.', fix: 'Remove one of them.', details: { conflicts_with: ['media'] },
    },
    {
      broken: given('quote_tweet_id') && account.facts['quotes'] === false, code: 'OPTION_UNSUPPORTED', rule: 'QUOTE_ACCESS_LEVEL', option: 'quote_tweet_id',
      message: 'The access level of this connection has no quotes.', fix: 'Put the address of the post into the text.',
    },
    {
      broken: options['share_with_followers'] === true && !given('community_id'), code: 'OPTION_CONFLICT', rule: 'REQUIRES_COMMUNITY', option: 'share_with_followers',
      message: 'This is an option of community posts.', fix: 'Give community_id, or remove it.', details: { conflicts_with: ['community_id'] },
    },
    {
      broken: given('tagged_user_ids') && !media.some((one) => one.type === 'image' || one.type === null), code: 'OPTION_REQUIRES_MEDIA', rule: 'TAGS_REQUIRE_IMAGE', option: 'tagged_user_ids',
      message: 'People are tagged in images.', fix: 'Add an image, or remove the tags.', details: { media: 'image' },
    },
    {
      broken: given('sensitive_media_warning') && media.length === 0, code: 'OPTION_REQUIRES_MEDIA', rule: 'SENSITIVE_MEDIA_REQUIRES_MEDIA', option: 'sensitive_media_warning',
      message: 'The warning belongs to media.', fix: 'Add a file, or remove the warning.', details: { media: 'any' },
    },
  ];
  for (const { broken, ...issue } of relations) if (broken) list.option(issue);
}

