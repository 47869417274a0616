import Joi from 'joi';
import { ALT_TEXT_MAX_CHARS, CONTENT_MAX_CHARS, MEDIA_MAX_ITEMS, MEDIA_URL_MAX_CHARS, MIME_TYPE_MAX_CHARS, OPTION_KEYS_MAX, OPTION_VALUE_MAX_BYTES } from '../../../../infra/contract/limits.ts';
import { PLATFORMS, type Platform } from '../../../../infra/contract/platforms.ts';
import { platformCatalog } from '../../../../providers/catalog.ts';
import { failIssue } from '../../../validation/joi-types.ts';

/** http or https, without user info. A fragment names nothing for a server and is not kept. */
const mediaUrl = Joi.string().max(MEDIA_URL_MAX_CHARS).required().custom((text: string, helpers) => {
  const url = URL.parse(text);
  const fine = url !== null && /^https?:\/\//i.test(text) && (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '' && !/[\s\\]/.test(text);
  return fine ? text.replace(/#.*$/s, '') : failIssue(helpers, { code: 'invalid_string', message: 'must be an http or https URL without user info' });
}).description('Public address of the file. It is fetched when publishing, not before.');

const mimeType = Joi.string().max(MIME_TYPE_MAX_CHARS).custom((text: string, helpers) => (/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(text) ? text
  : failIssue(helpers, { code: 'invalid_string', message: 'must have the form type/subtype' })));

export const mediaItem = Joi.object({
  url: mediaUrl,
  type: Joi.string().valid('image', 'video', 'gif', 'document').description('Inferred from mime_type or the extension when absent.'),
  alt_text: Joi.string().allow('').max(ALT_TEXT_MAX_CHARS),
  mime_type: mimeType,
  width: Joi.number().integer().min(0),
  height: Joi.number().integer().min(0),
  duration_ms: Joi.number().integer().min(0),
});
export const mediaList = Joi.array().items(mediaItem).max(MEDIA_MAX_ITEMS);

/** What a platform takes whose own options are not known yet. */
const commonOptions = Joi.object({
  content: Joi.string().allow('', null).max(CONTENT_MAX_CHARS),
  media: mediaList.allow(null),
  alt_texts: Joi.array().items(Joi.string().allow('', null).max(ALT_TEXT_MAX_CHARS)).max(MEDIA_MAX_ITEMS).allow(null),
});

/** The options of one platform in one layer, with the media items of this API in place of the catalog's. */
export const layerSchemas: Readonly<Record<Platform, Joi.ObjectSchema>> = Object.fromEntries(PLATFORMS.map((platform) => {
  const entry = platformCatalog(platform);
  return [platform, entry === null ? commonOptions : entry.optionsSchema.keys({ media: mediaList.allow(null) })];
})) as Record<Platform, Joi.ObjectSchema>;

export const optionNames: Readonly<Record<Platform, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries(layerSchemas).map(([platform, schema]) => [platform, new Set(Object.keys(schema.describe().keys as object))]),
) as unknown as Record<Platform, ReadonlySet<string>>;

/** A name must exist on at least one platform, and its value must fit at least one that has it. */
const workspaceLayer = Joi.object(Object.fromEntries(allNames().map((name) => {
  const schemas = PLATFORMS.filter((platform) => optionNames[platform].has(name)).map((platform) => layerSchemas[platform].extract(name));
  const [only] = schemas;
  return [name, schemas.length === 1 || name in commonKeys() ? only! : Joi.alternatives(...schemas)];
})));

export const targetOptions = Joi.object(Object.fromEntries(Object.entries(layerSchemas).map(([platform, schema]) => [platform, bounded(schema)])))
  .pattern(/^acc_[0-9a-f]{32}$/, bounded(Joi.object()))
  .pattern(/^ws_[0-9a-f]{32}$/, bounded(workspaceLayer))
  .max(OPTION_KEYS_MAX);

function allNames(): string[] {
  return [...new Set(PLATFORMS.flatMap((platform) => [...optionNames[platform]]))];
}

function commonKeys(): object {
  return commonOptions.describe().keys as object;
}

function bounded(schema: Joi.ObjectSchema): Joi.ObjectSchema {
  return schema.custom((value: object, helpers) => (Buffer.byteLength(JSON.stringify(value)) <= OPTION_VALUE_MAX_BYTES ? value
    : failIssue(helpers, { code: 'too_big', message: `must have at most ${OPTION_VALUE_MAX_BYTES} bytes as JSON` })));
}
