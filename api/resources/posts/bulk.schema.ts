import Joi from 'joi';
import { BULK_POSTS_MAX } from '../../../infra/contract/limits.ts';
import { jsonSchema } from '../../openapi/joi-to-schema.ts';
import { createBody } from './posts.schema.ts';
import { postReply } from './reply-schema.ts';

/** Of the envelope only: each post is judged alone. */
export const bulkBody = Joi.object({
  posts: Joi.array().items(Joi.any().meta({ openapi: jsonSchema(createBody.describe(), 'request') })).min(1).max(BULK_POSTS_MAX).required(),
});

const count = Joi.number().integer().min(0);

export const shownErrorReply = Joi.object({ code: Joi.string(), message: Joi.string(), details: Joi.object().unknown().optional() });

export const bulkReply = Joi.object({
  data: Joi.array().items(
    postReply.keys({ index: count }).optional(),
    Joi.object({ index: count, status: Joi.valid('error'), error: shownErrorReply }).optional(),
  ).description('In the order of the request.'),
  summary: Joi.object({ total: count, succeeded: count, failed: count }),
});
