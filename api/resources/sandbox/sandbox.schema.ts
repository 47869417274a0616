import Joi from 'joi';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { failIssue, pageSchema, wireId, wireInstant } from '../../validation/joi-types.ts';

const TEXT_FILTER_MAX_CHARS = 200;
const RESET_ACCOUNTS_MAX = 50;

const KINDS = ['publish', 'comment', 'repost', 'quote', 'edit', 'remove', 'action', 'moderation', 'message', 'broadcast', 'administration', 'report', 'request', 'foreign'] as const;
const ANSWERED = ['success', 'refused', 'rate_limited', 'error', 'dropped', 'hung', 'truncated', 'garbled', 'huge', 'no_proof', 'late', 'redirected'] as const;

export const ledgerQuery = Joi.object({
  account_id: Joi.string(),
  platform: Joi.valid(...PLATFORMS),
  post_id: Joi.string(),
  target_id: Joi.string(),
  operation_id: Joi.string(),
  kind: Joi.array().items(Joi.valid(...KINDS)),
  object_id: Joi.string(),
  text: Joi.string().min(1).max(TEXT_FILTER_MAX_CHARS).description('Part of the text, as it was published.'),
  epoch: Joi.string().custom((text: string, helpers) => (/^(?:all|[0-9]{1,9})$/.test(text) ? text : failIssue(helpers, { code: 'invalid_string', message: 'must be a whole number or all' }))).description('A number, or all; the current one when absent.'),
  include: Joi.array().items(Joi.string()).description('requests: also what arrived and did nothing.'),
});

export const resetBody = Joi.object({
  account_ids: Joi.array().items(Joi.string()).min(1).max(RESET_ACCOUNTS_MAX).description('Absent: all sandbox accounts of the organization.'),
});

const text = Joi.string().allow('', null);
const whole = Joi.number().integer();
const count = whole.min(0);

const media = Joi.array().items(Joi.object({ kind: Joi.string(), mime_type: Joi.string(), bytes: count, sha256: text, alt_text: text }).optional());

export const entrySchema = Joi.object({
  id: wireId('sbx_'),
  epoch: whole.min(1),
  ordinal: whole.min(1).description('Without gaps within the organization.'),
  at: wireInstant(),
  platform: Joi.valid(...PLATFORMS),
  account_id: wireId('acc_'),
  kind: Joi.valid(...KINDS).description('request: nothing was done; foreign: by another client of the same account.'),
  object_id: text,
  platform_post_id: text,
  parent_id: text,
  url: text,
  text,
  media,
  recipient: text,
  post_id: wireId('post_').allow(null),
  target_id: wireId('pt_').allow(null),
  operation_id: text,
  step: text,
  attempt: whole.allow(null),
  key: text,
  answered: Joi.valid(...ANSWERED),
  word: text,
  double: Joi.boolean(),
  request: Joi.object({ id: Joi.string(), method: Joi.string(), path: Joi.string(), body_sha256: Joi.string().allow(''), bytes: count }),
});

export const objectSchema = Joi.object({
  object_id: Joi.string(),
  platform: Joi.valid(...PLATFORMS),
  account_id: wireId('acc_'),
  kind: Joi.string(),
  url: text,
  text,
  media,
  parent_id: text,
  state: Joi.valid('public', 'removed', 'rejected'),
  hidden: Joi.boolean(),
  created_at: wireInstant(),
});

export const ledgerPageSchema = pageSchema(entrySchema.optional());
export const objectPageSchema = pageSchema(objectSchema.optional());

export const ledgerSummarySchema = Joi.object({
  data: Joi.object({
    epoch: whole.min(1), entries: count, objects: count, targets: count, doubles: count.description('Must be 0.'), requests: count,
    by_platform: Joi.object(Object.fromEntries(PLATFORMS.map((platform) => [platform, Joi.object({ objects: count, doubles: count })]))),
    oldest_at: wireInstant().allow(null), newest_at: wireInstant().allow(null),
  }),
});

export const resetSchema = Joi.object({ epoch: whole.min(1), accounts: count });

const argument = Joi.alternatives().try(
  Joi.object({ kind: Joi.valid('integer'), min: whole, max: whole, default: whole }),
  Joi.object({ kind: Joi.valid('choice'), values: Joi.array().items(Joi.string()), default: Joi.string() }),
);

export const wordsSchema = pageSchema(Joi.object({ name: Joi.string(), group: Joi.string(), argument: argument.allow(null), description: Joi.string() }).optional());
