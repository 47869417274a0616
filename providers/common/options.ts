import Joi from 'joi';
import { ALT_TEXT_MAX_CHARS, CONTENT_MAX_CHARS, MEDIA_MAX_ITEMS, MEDIA_URL_MAX_CHARS, MIME_TYPE_MAX_CHARS } from '../../infra/contract/limits.ts';
import { isId } from '../../infra/contract/ids.ts';
import type { EffectiveOptions } from './catalog-entry.ts';
import type { IssueList } from './issues.ts';
import { codePoints } from './text.ts';

/** A string measured in code points. */
export function text(min: number, max: number): Joi.StringSchema {
  const schema = Joi.string().custom((value: string, helpers) => (value.length > max && codePoints(value) > max ? helpers.error('string.max', { limit: max }) : value));
  return min === 0 ? schema.allow('') : min === 1 ? schema : schema.min(min);
}

/** An id made of digits; a JSON integer is taken for its text. */
export function digits(most = 19): Joi.Schema {
  const whole = Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER).custom(String);
  return Joi.alternatives(Joi.string().pattern(new RegExp(`^[0-9]{1,${most}}$`)), whole);
}

export function webUrl(): Joi.StringSchema {
  return Joi.string().max(MEDIA_URL_MAX_CHARS).custom((value: string, helpers) => {
    const url = URL.parse(value);
    const fine = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
    return fine ? value : helpers.error('string.uri');
  });
}

export function mediaId(): Joi.StringSchema {
  return Joi.string().custom((value: string, helpers) => (isId('media', value) ? value : helpers.error('string.pattern.base')));
}

export const mediaItemSchema = Joi.object({
  url: webUrl(),
  media_id: mediaId(),
  type: Joi.string().valid('image', 'video', 'gif', 'document'),
  alt_text: text(0, ALT_TEXT_MAX_CHARS),
  mime_type: Joi.string().max(MIME_TYPE_MAX_CHARS).pattern(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/),
  width: Joi.number().integer().min(0),
  height: Joi.number().integer().min(0),
  duration_ms: Joi.number().integer().min(0),
}).or('url', 'media_id');

/** Known on every platform and always refused: this service schedules and drafts by itself. The values that change nothing pass. */
const PROVIDER_SCHEDULES = ['publish_at', 'scheduled_publish_time', 'reel_scheduled_publish_time', 'scheduled_at'] as const;

interface SchemaParts {
  contentTypes: readonly string[];
  own: Record<string, Joi.Schema>;
  /** Main name by alias. */
  aliases?: Readonly<Record<string, string>>;
}

/** Closed schema of one layer of `target_options`. Every option may be `null`: not set here, and removed from earlier layers. */
export function optionsSchema({ contentTypes, own, aliases = {} }: SchemaParts): Joi.ObjectSchema {
  const known: Record<string, Joi.Schema> = {
    content: text(0, CONTENT_MAX_CHARS),
    media: Joi.array().items(mediaItemSchema).max(MEDIA_MAX_ITEMS),
    alt_texts: Joi.array().items(text(0, ALT_TEXT_MAX_CHARS).allow(null)).max(MEDIA_MAX_ITEMS),
    content_type: Joi.string().valid(...contentTypes),
    ...Object.fromEntries(PROVIDER_SCHEDULES.map((name) => [name, documentedAs(Joi.any(), { type: 'null' })])),
    published: documentedAs(Joi.boolean(), { enum: [true, null] }),
    reel_state: documentedAs(Joi.string().valid('DRAFT', 'PUBLISHED'), { enum: ['PUBLISHED', null] }),
    ...own,
  };
  const keys: Record<string, Joi.Schema> = Object.fromEntries(Object.entries(known).map(([name, schema]) => [name, schema.allow(null)]));
  for (const [alias, main] of Object.entries(aliases)) keys[alias] = keys[main] ?? Joi.any();
  return Joi.object(keys).custom(oneNameOnly(aliases)).messages({ 'alias.both': '{{#label}} is another name of "{{#main}}"; give one of them' }).prefs({ convert: false, abortEarly: false });
}

/** What is refused is accepted here, because the rules of the platform refuse it in better words; who reads the documentation is told what passes. */
function documentedAs(schema: Joi.Schema, passes: Record<string, unknown>): Joi.Schema {
  return schema.meta({ openapi: passes }).description('Refused unless it changes nothing: the post itself is scheduled or saved as a draft.');
}

function oneNameOnly(aliases: Readonly<Record<string, string>>): Joi.CustomValidator {
  return (value: Record<string, unknown>, helpers) => {
    const alias = Object.keys(aliases).find((alias) => alias in value && (aliases[alias] ?? '') in value);
    if (alias === undefined) return value;
    const { state } = helpers as unknown as { state: { path: string[]; ancestors: unknown[]; localize: (path: string[], ancestors: unknown[]) => Joi.State } };
    return helpers.error('alias.both', { main: aliases[alias] }, state.localize([...state.path, alias], [value, ...state.ancestors]));
  };
}

/** Layers in their order, later ones win by main name; then nulls out, defaults in. A blank text counts as not given. */
export function resolveOptions(layers: readonly Readonly<Record<string, unknown>>[], { aliases = {}, defaults = {} }: { aliases?: Readonly<Record<string, string>>; defaults?: Record<string, unknown> }): Record<string, any> {
  const options: Record<string, unknown> = {};
  for (const [name, value] of layers.flatMap((layer) => Object.entries(layer))) {
    const main = aliases[name] ?? name;
    if (main === 'content' && typeof value === 'string' && value.trim() === '') continue;
    if (value === null || value === undefined) delete options[main];
    else options[main] = value;
  }
  return { ...defaults, ...options };
}

export function checkNever(list: IssueList, options: EffectiveOptions): void {
  for (const option of PROVIDER_SCHEDULES) {
    if (options[option] === undefined) continue;
    list.option({ code: 'OPTION_UNSUPPORTED', rule: 'PROVIDER_SCHEDULE_UNSUPPORTED', option, message: 'Posts are scheduled by this service, not by the platform.', fix: 'Use scheduled_at of the post.' });
  }
  for (const [option, draft] of [['published', false], ['reel_state', 'DRAFT']] as const) {
    if (options[option] !== draft) continue;
    list.option({ code: 'OPTION_UNSUPPORTED', rule: 'PROVIDER_DRAFT_UNSUPPORTED', option, message: 'A published post is always public; drafts are kept by this service.', fix: 'Use scheduled_at "draft" of the post.' });
  }
}

/** Something to publish beside the common text and media of the post. */
export function commonContentBearing(options: EffectiveOptions): boolean {
  return (typeof options['content'] === 'string' && options['content'].trim() !== '') || (Array.isArray(options['media']) && options['media'].length > 0);
}
