import Joi from 'joi';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { OPERATION_STATUSES, POST_STATUSES, TARGET_STATUSES, WAITING_FOR } from '../../../infra/contract/statuses.ts';
import { wireId, wireInstant } from '../../validation/joi-types.ts';

const time = wireInstant().allow(null);
const string = Joi.string().allow('');
const text = string.allow(null);
const whole = Joi.number().integer();
const never = Joi.valid(null);

export const targetAccount = Joi.object({
  id: wireId('acc_'),
  username: text,
  display_name: text,
  avatar_url: text,
  url: text.description('Published post on the platform.'),
  platform_post_id: text,
  target_id: wireId('pt_'),
  operation_id: wireId('op_').allow(null),
  operation_state: Joi.valid(...OPERATION_STATUSES, null),
  publish_operation_id: wireId('op_').allow(null),
  delivery_state: Joi.valid('queued', 'in_flight', 'unknown', 'succeeded', 'failed', null),
  attempt: whole.min(0),
  published_at: time,
  unpublished_at: time,
  waiting_until: time,
  waiting_for: Joi.valid(...WAITING_FOR, null),
  vanished_at: time,
  warnings: Joi.array().items(Joi.object({ code: Joi.string(), message: Joi.string(), step: Joi.string().optional() }).optional()),
});

export const targetError = Joi.object({
  code: Joi.string(),
  message: Joi.string(),
  detail: string.optional(),
  provider_code: string.optional(),
  retryable: Joi.boolean(),
  operation_id: wireId('op_').optional(),
});

const target = Joi.object({
  status: Joi.valid(...TARGET_STATUSES),
  platform: Joi.valid(...PLATFORMS),
  accounts: Joi.array().length(1).items(targetAccount),
  error: targetError.optional(),
});

export const mediaItem = Joi.object({
  url: Joi.string(),
  type: Joi.valid('image', 'video', 'gif', 'document').optional(),
  media_id: never,
  alt_text: text,
  mime_type: text,
  width: whole.allow(null),
  height: whole.allow(null),
  duration_ms: whole.allow(null),
  thumbnail: never,
});

const postTag = Joi.object({ id: wireId('tag_'), name: Joi.string(), color: Joi.string() });

export const autoSchedule = Joi.object({
  source: Joi.valid('queue_slot', 'best_time', 'default'),
  slot_at: wireInstant(),
  local: Joi.string(),
  timezone: Joi.string(),
  score: Joi.number(),
  components: Joi.object({ recency: Joi.number(), engagement: Joi.number() }),
  queue_id: wireId('qs_').allow(null),
  minimum_gap_seconds: whole.min(0),
  candidates: whole.min(0),
  blocked: whole.min(0),
  alternatives: Joi.array().items(Joi.object({ slot_at: wireInstant(), score: Joi.number() }).optional()),
  skipped: Joi.array().items(Joi.object({
    slot_at: wireInstant(), reason: Joi.valid('minimum_gap', 'daily_budget', 'slot_taken'), account_id: wireId('acc_').allow(null), post_id: wireId('post_').allow(null),
  }).optional()),
}).description('How the time was chosen, where `auto` was asked for.');

export const postReply = Joi.object({
  id: wireId('post_'),
  status: Joi.valid(...POST_STATUSES),
  content: text,
  scheduled_at: time,
  published_at: time,
  targets: Joi.object().pattern(/^acc_[0-9a-f]{32}$/, target).description('By account id, in the order of resolution.'),
  media: Joi.array().items(mediaItem.optional()).allow(null),
  target_options: Joi.object().unknown().allow(null),
  timezone: Joi.string(),
  metrics: Joi.object({}),
  recycling: never,
  recycled_from_id: never,
  thread_group_id: never,
  thread_position: never,
  workspace_id: wireId('ws_').allow(null),
  notes: text,
  template_id: text,
  idea_id: never,
  signature_id: wireId('sig_').allow(null),
  skip_signature: Joi.boolean(),
  shorten_urls: Joi.boolean(),
  catch_up: Joi.object({ max_lateness_seconds: whole.min(0), on_late: Joi.valid('publish', 'skip', 'hold') }),
  cross_post_actions: Joi.array().length(0),
  auto_schedule: autoSchedule.allow(null),
  tags: Joi.array().items(postTag.optional()),
  revision: whole.min(1),
  hold_reason: Joi.valid('late', null),
  source: Joi.valid('internal'),
  platforms: Joi.array().items(Joi.valid(...PLATFORMS).optional()),
  created_at: wireInstant(),
  updated_at: wireInstant(),
});

export const logEntryReply = Joi.object({
  id: wireId('pt_').description('Target id.'),
  post_id: wireId('post_'),
  social_account_id: wireId('acc_'),
  platform: Joi.valid(...PLATFORMS),
  status: Joi.valid(...TARGET_STATUSES),
  platform_post_id: text,
  platform_url: text,
  error: text,
  published_at: time,
  updated_at: wireInstant(),
  error_code: text,
  operation_id: wireId('op_').allow(null),
  attempt: whole.min(0),
  workspace_id: wireId('ws_').allow(null),
  deleted: Joi.boolean().description('The post is deleted.'),
});

export const notesReply = Joi.object({ notes: text });
