import Joi from 'joi';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { ACCOUNT_STATUSES, SANDBOX_BEHAVIOURS } from '../../../infra/contract/statuses.ts';
import { pageSchema, wireId, wireInstant } from '../../validation/joi-types.ts';

export const accountSchema = Joi.object({
  id: wireId('acc_'),
  platform: Joi.valid(...PLATFORMS),
  platform_account_id: Joi.string(),
  username: Joi.string().allow(null),
  display_name: Joi.string().allow(null),
  avatar_url: Joi.string().allow(null),
  metadata: Joi.object().unknown(true).allow(null),
  workspace: Joi.object({ id: wireId('ws_'), name: Joi.string() }).allow(null),
  workspace_id: wireId('ws_').allow(null),
  status: Joi.valid(...ACCOUNT_STATUSES),
  status_reason: Joi.string().allow(null),
  sandbox: Joi.boolean(),
  sandbox_behaviour: Joi.valid(...SANDBOX_BEHAVIOURS, null),
  scopes: Joi.array().items(Joi.string().optional()),
  token_expires_at: wireInstant().allow(null),
  reconnect_by: wireInstant().allow(null),
  pacing: Joi.object({
    min_gap_seconds: Joi.number().integer(),
    daily_budget: Joi.number().integer().allow(null),
    platform_min_gap_seconds: Joi.number().integer(),
    platform_daily_budget: Joi.number().integer().allow(null),
    used_24h: Joi.number().integer(),
    next_allowed_at: wireInstant().allow(null),
  }),
  connected_at: wireInstant(),
  reconnected_at: wireInstant().allow(null),
  disconnected_at: wireInstant().allow(null),
  created_at: wireInstant(),
  updated_at: wireInstant(),
});

export const accountPageSchema = pageSchema(accountSchema, { total: Joi.number().integer() });

export const listAccountsQuery = Joi.object({
  workspace_id: Joi.string(),
  ungrouped: Joi.boolean().description('true: only accounts of the organization level.'),
  platforms: Joi.array().items(Joi.valid(...PLATFORMS)),
  platform: Joi.valid(...PLATFORMS),
  status: Joi.array().items(Joi.valid(...ACCOUNT_STATUSES)).default(['active', 'reconnect_required']),
  search: Joi.string().min(1).max(100).description('Part of the username or the display name, in any case.'),
});

export const patchAccountBody = Joi.object({
  sandbox_behaviour: Joi.valid(...SANDBOX_BEHAVIOURS).description('Sandbox accounts only; acts on the next call.'),
});
