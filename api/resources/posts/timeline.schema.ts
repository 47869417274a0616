import Joi from 'joi';
import { pageSchema, wireId, wireInstant } from '../../validation/joi-types.ts';

const KINDS = [
  'created', 'updated', 'rendered', 'slot_chosen', 'scheduled', 'superseded', 'began', 'late', 'held', 'skipped', 'paced', 'thread_waiting', 'operation',
  'target_changed', 'post_changed', 'retry_requested', 'cancel_requested', 'unpublish_requested', 'edit_requested', 'duplicated', 'recycled', 'cross_post',
  'shortening_failed', 'metrics_refreshed', 'vanished', 'event_emitted', 'delivery_attempted', 'swept', 'deleted',
] as const;

export const timelineQuery = Joi.object({
  target_id: Joi.string(),
  kind: Joi.array().items(Joi.string().valid(...KINDS)).description('Entries of the operations are of kind operation.'),
});

export const timelineEntry = Joi.object({
  id: wireId('tle_'),
  at: wireInstant(),
  kind: Joi.valid(...KINDS),
  message: Joi.string().max(300),
  post_id: wireId('post_'),
  target_id: wireId('pt_').allow(null),
  account_id: wireId('acc_').allow(null),
  operation_id: wireId('op_').allow(null),
  event_id: wireId('whe_').allow(null),
  delivery_id: Joi.string().allow(null),
  evidence_id: wireId('obs_').allow(null),
  verdict_id: wireId('ver_').allow(null),
  actor: Joi.object({ type: Joi.valid('user', 'api_key', 'system'), id: Joi.string().allow(null) }).allow(null),
  request_id: wireId('req_').allow(null),
  data: Joi.object().unknown().description('Ids, enums and numbers only. Of an operation: its type of entry, and the step and attempt where it has them.'),
});

export const timelinePage = pageSchema(timelineEntry.optional());
