import Joi from 'joi';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { ACCOUNT_STATUSES, STEP_EFFECTS } from '../../../infra/contract/statuses.ts';
import { wireId, wireInstant } from '../../validation/joi-types.ts';
import { autoSchedule } from './reply-schema.ts';

const time = wireInstant().allow(null);
const text = Joi.string().allow('', null);
const whole = Joi.number().integer();
const list = (item: Joi.Schema) => Joi.array().items(item.optional());
const never = Joi.valid(null);

const issue = Joi.object({
  code: Joi.string(),
  severity: Joi.valid('error', 'warning', 'info').description('error: a creation answers with it. warning: a creation goes on.'),
  message: Joi.string(),
  fix: Joi.string().description('What to change.'),
  path: list(Joi.alternatives(Joi.string().allow(''), whole)),
  account_id: wireId('acc_').allow(null),
  platform: Joi.valid(...PLATFORMS, null),
  details: Joi.object().unknown(),
});

const accountPlan = Joi.object({
  account_id: wireId('acc_'),
  platform: Joi.valid(...PLATFORMS),
  username: text,
  display_name: text,
  account_status: Joi.valid(...ACCOUNT_STATUSES),
  text,
  text_source: Joi.valid('target_options.account', 'target_options.workspace', 'target_options.platform', 'content', 'template_override', 'template', 'none'),
  length: Joi.object({ value: whole, limit: whole, unit: Joi.valid('characters', 'graphemes', 'utf16', 'bytes', 'weighted'), per_url: whole.allow(null) }),
  media: list(Joi.object({ index: whole, type: Joi.valid('image', 'video', 'gif', 'document', null), url: Joi.string(), media_id: never, checks: Joi.valid('passed', 'unknown', 'failed') })),
  options: Joi.object().unknown().description('Effective: layers merged, defaults applied.'),
  thread: never,
  expected_at: time.description('After pacing.'),
  expected_wait_reason: Joi.valid('rate_budget', null),
  steps: list(Joi.object({ name: Joi.string(), effect: Joi.valid(...STEP_EFFECTS) })),
  duplicate: Joi.object({ post_id: wireId('post_'), target_id: wireId('pt_'), at: wireInstant() }).allow(null),
  issues: list(issue),
});

export const preflightReply = Joi.object({
  valid: Joi.boolean(),
  status: Joi.valid('draft', 'scheduled', 'publishing'),
  workspace_id: wireId('ws_').allow(null),
  schedule: Joi.object({
    scheduled_at: time,
    local: text.description('Wall time with offset.'),
    timezone: Joi.string(),
    source: Joi.valid('now', 'draft', 'auto', 'iso'),
    auto_schedule: autoSchedule.allow(null),
    catch_up: Joi.object({ max_lateness_seconds: whole.min(0), on_late: Joi.valid('publish', 'skip', 'hold') }),
  }),
  content: text,
  accounts: list(accountPlan),
  unresolved: list(Joi.object({ target: Joi.string(), code: Joi.string(), message: Joi.string() })),
  cross_post_actions: Joi.array().length(0),
  recycling: never,
  signature: Joi.object({ id: wireId('sig_'), name: Joi.string(), position: Joi.valid('append', 'prepend'), workspace_id: wireId('ws_').optional() }).allow(null),
  features: list(Joi.string()),
  quota: Joi.object({ units: whole, used: whole, limit: whole.allow(null), allowed: Joi.boolean() }),
  issues: list(issue),
});
