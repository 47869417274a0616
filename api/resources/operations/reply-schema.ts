import Joi from 'joi';
import { EVIDENCE_SHOWN_MAX, SUMMARY_COUNT_MAX, TIMELINE_SHOWN_MAX } from '../../../infra/contract/limits.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import {
  OPERATION_KINDS, OPERATION_STATUSES, POST_STATUSES, PROBING, REQUEST_PROGRESS, SETTLED_BY, STEP_EFFECTS, STEP_STATES,
} from '../../../infra/contract/statuses.ts';
import { pageSchema, wireId, wireInstant } from '../../validation/joi-types.ts';
import { evidenceSchema } from './evidence-schema.ts';

const time = wireInstant().allow(null);
const text = Joi.string().allow('', null);
const whole = Joi.number().integer();
const count = whole.min(0).max(SUMMARY_COUNT_MAX);

const SUBJECT_TYPES = [
  'post_target', 'cross_post_action', 'platform_post', 'message', 'conversation', 'comment', 'platform_user', 'whatsapp_account', 'whatsapp_group',
  'whatsapp_template', 'whatsapp_flow', 'ad_report', 'contact_channel', 'recipient',
] as const;
const ENTRY_TYPES = [
  'accepted', 'scheduled', 'picked_up', 'paced', 'step_started', 'step_done', 'claimed', 'connected', 'bytes_sent', 'answered', 'silence', 'not_sent',
  'outcome_unknown', 'probe_scheduled', 'probe_started', 'probe_finished', 'probe_requested', 'late_answer', 'verdict_given', 'verdict_contradicted',
  'settled', 'subject_updated', 'event_emitted', 'delivery_attempted', 'worker_lost', 'swept',
] as const;

const errorSchema = Joi.object({
  code: Joi.string(),
  message: Joi.string().max(500),
  platform_code: text,
  platform_message: text,
  http_status: whole.allow(null),
  step: text,
  retryable: Joi.boolean(),
  retry_at: time,
});

const stepSchema = Joi.object({
  name: Joi.string().pattern(/^[a-z0-9_]{1,64}$/),
  position: whole.min(0),
  effect: Joi.valid(...STEP_EFFECTS),
  required: Joi.boolean(),
  state: Joi.valid(...STEP_STATES),
  attempt: whole.min(0),
  reused: Joi.boolean(),
  progress: Joi.valid(...REQUEST_PROGRESS),
  bytes_sent: whole.allow(null),
  bytes_received: whole.allow(null),
  http_status: whole.allow(null),
  provider_id: text,
  error: errorSchema.allow(null),
  started_at: time,
  sent_at: time,
  finished_at: time,
});

export const entrySchema = Joi.object({
  id: wireId('tle_'),
  at: wireInstant(),
  type: Joi.valid(...ENTRY_TYPES),
  step: text,
  attempt: whole.allow(null),
  message: Joi.string().max(300),
  evidence_id: wireId('obs_').allow(null),
  actor: Joi.object({ type: Joi.valid('user', 'api_key', 'system'), id: text }).allow(null),
  data: Joi.object().unknown(),
});

export const verdictSchema = Joi.object({
  id: wireId('ver_'),
  operation_id: wireId('op_'),
  outcome: Joi.valid('published', 'not_published', 'happened', 'did_not_happen'),
  platform_post_id: text,
  url: text,
  reason: Joi.string(),
  state: Joi.valid('applied', 'superseded', 'contradicted'),
  actor: Joi.object({ type: Joi.valid('user', 'api_key'), id: Joi.string(), name: text }),
  request_id: wireId('req_').allow(null),
  expected_revision: whole.min(1),
  supersedes: wireId('ver_').allow(null),
  superseded_by: wireId('ver_').allow(null),
  contradicted_by: wireId('obs_').allow(null),
  created_at: wireInstant(),
  applied_at: time,
});

const resultSchema = Joi.object({
  platform_post_id: text,
  url: text,
  items: Joi.array().items(Joi.object({ step: Joi.string(), platform_post_id: text, url: text }).optional()),
});

export const operationSchema = Joi.object({
  id: wireId('op_'),
  kind: Joi.valid(...OPERATION_KINDS),
  action: text,
  status: Joi.valid(...OPERATION_STATUSES),
  revision: whole.min(1),
  platform: Joi.valid(...PLATFORMS),
  account_id: wireId('acc_'),
  workspace_id: wireId('ws_').allow(null),
  subject: Joi.object({ type: Joi.valid(...SUBJECT_TYPES), id: Joi.string() }),
  target_id: wireId('pt_').allow(null),
  post_id: wireId('post_').allow(null),
  attempt: whole.min(1),
  previous_operation_id: wireId('op_').allow(null),
  steps: Joi.array().items(stepSchema.optional()).optional().description('On single reads, and in lists with include=steps.'),
  timeline: Joi.array().max(TIMELINE_SHOWN_MAX).items(entrySchema.optional()).optional().description('On single reads: the newest, oldest first.'),
  evidence: Joi.array().max(EVIDENCE_SHOWN_MAX).items(evidenceSchema.optional()).optional().description('On single reads: the newest, newest first.'),
  evidence_count: whole.min(0),
  partial: Joi.boolean(),
  warnings: Joi.array().items(Joi.object({ code: Joi.string(), message: Joi.string(), step: text }).optional()),
  next_probe_at: time,
  probing: Joi.valid(...PROBING),
  verdict: verdictSchema.allow(null),
  settled_by: Joi.valid(...SETTLED_BY, null),
  error: errorSchema.allow(null),
  result: resultSchema.allow(null),
  workflow: Joi.object({ id: Joi.string(), run_id: text, ui_url: text }),
  request_id: wireId('req_').allow(null),
  created_by: Joi.object({ type: Joi.valid('user', 'api_key', 'system'), id: text }),
  created_at: wireInstant(),
  sent_at: time,
  settled_at: time,
  unknown_since: time,
  updated_at: wireInstant(),
  provider_post_id: text,
  provider_operation_id: text,
  completed_at: time,
});

export const operationPageSchema = pageSchema(operationSchema.optional());
export const entryPageSchema = pageSchema(entrySchema.optional());
export const evidencePageSchema = pageSchema(evidenceSchema.optional());
export const verdictPageSchema = pageSchema(verdictSchema.optional());

export const summarySchema = Joi.object({
  data: Joi.object({
    total: count,
    by_status: Joi.object(Object.fromEntries(OPERATION_STATUSES.map((status) => [status, count]))),
    unknown: Joi.object({ count, oldest_since: time, by_platform: Joi.object(Object.fromEntries(PLATFORMS.map((platform) => [platform, count]))) }),
    truncated: Joi.boolean().description(`Some count is above ${SUMMARY_COUNT_MAX} and given as ${SUMMARY_COUNT_MAX}.`),
  }),
});

export const requestOf = Joi.object({
  text,
  media: Joi.array().items(Joi.object({ url: Joi.string(), type: Joi.valid('image', 'video', 'gif', 'document', null) }).optional()),
  options: Joi.object().unknown(),
  target: Joi.object({ platform: Joi.valid(...PLATFORMS), account_id: wireId('acc_'), platform_post_id: text }),
  digest: Joi.string().pattern(/^[0-9a-f]{64}$/).allow(null),
});

export const requestSchema = Joi.object({ data: requestOf });

export const reconciledSchema = Joi.object({
  post_id: wireId('post_'),
  target_id: wireId('pt_'),
  publish_operation_id: wireId('op_'),
  outcome: Joi.valid('succeeded', 'failed'),
  post_status: Joi.valid(...POST_STATUSES),
  thread_status: Joi.valid(null),
  operation: operationSchema,
});
