import Joi from 'joi';
import type { CheckTarget, EffectiveOptions, RuleIssue, TextLength } from '../common/catalog-entry.ts';
import { IssueList } from '../common/issues.ts';
import { checkMedia } from '../common/media-rules.ts';
import { checkNever, commonContentBearing, mediaId, optionsSchema, resolveOptions, text, webUrl } from '../common/options.ts';
import { checkText, codePoints, finalText, graphemes } from '../common/text.ts';
import { capabilitiesOf, numbersOf } from './capabilities.ts';
import { knownFacts } from './facts.ts';

const POLL_SECONDS = 86_400;

export const aliases = { reply_to: 'in_reply_to_id', quote_to: 'quoted_status_id' } as const;

const statusId = () => Joi.alternatives(text(1, 64).pattern(/^https?:/, { invert: true }), webUrl());
const coordinate = () => Joi.number().min(-1).max(1).required();

export const schema = optionsSchema({
  contentTypes: ['post'],
  aliases,
  own: {
    visibility: Joi.string().valid('public', 'unlisted', 'private', 'direct'),
    spoiler_text: text(1, 500),
    sensitive: Joi.boolean(),
    language: Joi.string().pattern(/^[A-Za-z]{2,3}$/),
    in_reply_to_id: statusId(),
    quoted_status_id: statusId(),
    quote_approval_policy: Joi.string().valid('public', 'followers', 'nobody'),
    // Wider than the usual 4 × 50: the instance's own numbers count, and `check` knows them.
    poll: Joi.object({
      options: Joi.array().items(text(1, 500)).min(2).max(50).required(),
      expires_in: Joi.number().integer().min(300).max(2_629_746),
      duration_minutes: Joi.number().integer().min(5).max(43_829),
      multiple: Joi.boolean(),
      hide_totals: Joi.boolean(),
    }).oxor('expires_in', 'duration_minutes'),
    focal_points: Joi.array().items(Joi.object({ x: coordinate(), y: coordinate() }).allow(null)).max(50),
    thumbnail_media_id: mediaId(),
  },
});

export function normalizeOptions(...layers: readonly Readonly<Record<string, unknown>>[]): EffectiveOptions {
  const options = resolveOptions(layers, { aliases, defaults: { content_type: 'post', visibility: 'public' } });
  options['sensitive'] ??= options['spoiler_text'] !== undefined;
  if (options['poll'] !== undefined) {
    const { duration_minutes: minutes, expires_in: seconds, ...rest } = options['poll'];
    options['poll'] = { multiple: false, hide_totals: false, ...rest, expires_in: seconds ?? (minutes === undefined ? POLL_SECONDS : minutes * 60) };
  }
  return options;
}

export function contentBearing(options: EffectiveOptions, hasText: boolean): boolean {
  return commonContentBearing(options) || (options['poll'] !== undefined && hasText);
}

const ADDRESS = /https?:\/\/[^\s<>"]+/gi;
const MENTION = /(?<![=/\w])@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)@[a-z0-9][\w.-]*\w/gi;

/** Warning and text are counted together; an address counts as so many characters, a full handle without its server. */
export function length({ text, options, account }: Pick<CheckTarget, 'text' | 'options' | 'account'>): TextLength {
  const { max_characters: limit, characters_reserved_per_url: perUrl } = numbersOf(account);
  const short = finalText(text).replace(ADDRESS, (url) => `${'x'.repeat(perUrl)}${/[.,;:!?'")\]}»]*$/.exec(url)?.[0] ?? ''}`).replace(MENTION, '@$1');
  return { value: graphemes(`${options['spoiler_text'] ?? ''}${short}`), limit, unit: 'graphemes', perUrl };
}

export function check(target: CheckTarget): RuleIssue[] {
  const list = new IssueList(target.draft);
  const hasText = finalText(target.text) !== '';
  if (!hasText && target.media.length === 0) {
    list.error({ code: 'CONTENT_REQUIRED', message: 'There is neither text nor media.', fix: 'Give a text or a file.', path: ['content'], details: {} });
  }
  checkText(list, target, length(target));
  checkAssumed(list, target);
  checkMedia(list, target, capabilitiesOf(target.account));
  checkNever(list, target.options);
  checkPoll(list, target, hasText);
  checkOthers(list, target);
  return list.issues;
}

/** Numbers that nobody has read from the instance yet. */
function checkAssumed(list: IssueList, { account, media }: CheckTarget): void {
  const known = knownFacts(account);
  const assumed = ['max_characters', ...(media.length > 0 ? ['max_media_attachments'] : [])].filter((name) => typeof known[name] !== 'number');
  if (assumed.length === 0) return;
  list.info({ code: 'LIMIT_ASSUMED', message: 'The limits of this instance are not known yet; the usual ones were assumed.', fix: 'Nothing to do: they are read before publishing.', path: ['content'], details: { limits: assumed } });
}

function checkPoll(list: IssueList, { options, media, account }: CheckTarget, hasText: boolean): void {
  const { poll } = options;
  if (poll === undefined) return;
  if (!hasText) list.option({ code: 'OPTION_INVALID', rule: 'POLL_REQUIRES_TEXT_POST', option: 'poll', message: 'A poll needs a text.', fix: 'Add the question as text.' });
  if (media.length > 0) list.option({ code: 'OPTION_CONFLICT', rule: 'POLL_WITH_MEDIA', option: 'poll', message: 'A status has a poll or media, not both.', fix: 'Remove one of them.', details: { conflicts_with: ['media'] } });
  const numbers = numbersOf(account);
  const longest = Math.max(...poll.options.map((option: string) => codePoints(option)));
  const over: [string, number, number][] = [['poll.options', poll.options.length, numbers.poll_max_options], ['poll.options', longest, numbers.poll_max_characters], ['poll.expires_in', poll.expires_in, numbers.poll_max_expiration]];
  const [first] = over.filter(([, value, limit]) => value > limit);
  const below = poll.expires_in < numbers.poll_min_expiration;
  if (first === undefined && !below) return;
  const [option, value, limit] = first ?? ['poll.expires_in', poll.expires_in, numbers.poll_min_expiration];
  list.option({ code: 'OPTION_INVALID', rule: 'POLL_INSTANCE_LIMIT', option, message: `This instance has a limit of ${limit} here, not ${value}.`, fix: 'Keep to the limit of the instance.', details: { value, limit } });
}

function checkOthers(list: IssueList, { options, media, account }: CheckTarget): void {
  for (const option of ['quoted_status_id', 'quote_approval_policy']) {
    if (options[option] === undefined || knownFacts(account)['quotes'] !== false) continue;
    list.option({ code: 'OPTION_UNSUPPORTED', rule: 'QUOTE_UNSUPPORTED', option, message: 'This instance has no quotes.', fix: 'Put the address of the status into the text.' });
  }
  if ((options['focal_points']?.length ?? 0) > media.length) {
    list.option({ code: 'OPTION_INVALID', rule: 'FOCAL_POINTS_TOO_MANY', option: 'focal_points', message: 'There are more focal points than files.', fix: 'Give at most one per file.' });
  }
  const playable = media.some((one) => one.type === 'video' || one.type === 'document' || one.type === null);
  if (options['thumbnail_media_id'] !== undefined && !playable) {
    list.option({ code: 'OPTION_REQUIRES_MEDIA', rule: 'VIDEO_OPTION_REQUIRES_VIDEO', option: 'thumbnail_media_id', message: 'A thumbnail belongs to video or audio.', fix: 'Add one, or remove the thumbnail.', details: { media: 'video' } });
  }
}

