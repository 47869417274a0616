import Joi from 'joi';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { OPERATION_STATUSES, TARGET_STATUSES } from '../../../infra/contract/statuses.ts';
import { pageSchema, wireId, wireInstant } from '../../validation/joi-types.ts';
import { mediaItem, targetAccount, targetError } from './reply-schema.ts';

const whole = Joi.number().integer().min(0);
const text = Joi.string().allow('', null);

export const targetReply = Joi.object({
  target_id: wireId('pt_'),
  account_id: wireId('acc_'),
  platform: Joi.valid(...PLATFORMS),
  status: Joi.valid(...TARGET_STATUSES),
  attempt: whole,
  text: text.description('As frozen for sending; of a draft as it would be sent now.'),
  text_length: whole.description('Counted as the platform counts.'),
  length_limit: whole,
  length_unit: Joi.valid('characters', 'graphemes', 'utf16', 'bytes', 'weighted'),
  options: Joi.object().unknown().description('Effective, defaults included.'),
  media: Joi.array().items(mediaItem.optional()),
  error: targetError.allow(null),
  accounts: Joi.array().length(1).items(targetAccount),
  operations: Joi.array().items(Joi.object({ id: wireId('op_'), status: Joi.valid(...OPERATION_STATUSES), attempt: whole.min(1), created_at: wireInstant(), settled_at: wireInstant().allow(null) }).optional())
    .description('Attempts to publish, first one first.'),
  platform_post_ids: Joi.array().items(Joi.object({ platform_post_id: Joi.string(), url: text, from: wireInstant(), to: wireInstant().allow(null) }).optional()),
  metrics: Joi.valid(null),
  metrics_at: Joi.valid(null),
  metrics_error: Joi.valid(null),
});

/** Not paged: the whole list is one page. */
export const targetsReply = pageSchema(targetReply.optional());
