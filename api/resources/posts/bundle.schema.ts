import Joi from 'joi';
import { wireId, wireInstant } from '../../validation/joi-types.ts';
import { evidenceSchema } from '../operations/evidence-schema.ts';
import { operationSchema, requestOf, verdictSchema } from '../operations/reply-schema.ts';
import { postReply } from './reply-schema.ts';
import { targetReply } from './targets.schema.ts';
import { timelineEntry } from './timeline.schema.ts';

const delivery = Joi.object({
  id: wireId('whd_'), webhook_id: wireId('wh_'), outcome: Joi.valid('succeeded', 'retry_scheduled', 'failed', 'unknown'), status_code: Joi.number().integer(), attempted_at: wireInstant(),
});

export const bundleReply = Joi.object({
  format: Joi.valid('oncepost.bundle/1'),
  generated_at: wireInstant(),
  generated_by: Joi.object({ type: Joi.valid('user', 'api_key', 'system'), id: Joi.string().allow(null) }),
  post: postReply.description('Without its notes.'),
  targets: Joi.array().items(targetReply.optional()),
  timeline: Joi.array().items(timelineEntry.optional()).description('All entries, oldest first.'),
  operations: Joi.array().items(operationSchema.keys({
    evidence: Joi.array().items(evidenceSchema.optional()).description('All of it, oldest first.'),
    verdicts: Joi.array().items(verdictSchema.optional()).description('All of them, oldest first.'),
  }).optional()),
  requests: Joi.array().items(requestOf.keys({ operation_id: wireId('op_') }).optional()),
  events: Joi.array().items(Joi.object({ id: wireId('whe_'), event: Joi.string(), created_at: wireInstant(), deliveries: Joi.array().items(delivery.optional()) }).optional()),
  truncated: Joi.valid(true).optional().description('Entries of polls and metrics, oldest first, were left out to keep the file within 8 MiB; where that did not do, long texts are cut and the oldest of the rest is missing.'),
  digest: Joi.string().pattern(/^[0-9a-f]{64}$/).description('SHA-256 over the canonical JSON (members sorted by name, no white space) of everything else.'),
});
