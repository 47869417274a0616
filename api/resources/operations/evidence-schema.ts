import Joi from 'joi';
import { REQUEST_PROGRESS } from '../../../infra/contract/statuses.ts';
import { wireId, wireInstant } from '../../validation/joi-types.ts';

const time = wireInstant().allow(null);
const text = Joi.string().allow('', null);
const count = Joi.number().integer().min(0);
const flag = Joi.boolean();

const TRANSPORT_ERRORS = ['dns', 'connect', 'tls', 'reset', 'closed', 'timeout_connect', 'timeout_headers', 'timeout_body', 'aborted', 'too_large', 'malformed', 'redirect'] as const;
const transportError = Joi.valid(...TRANSPORT_ERRORS, null);

const answer = {
  http_status: count, content_type: text, bytes: count, truncated: flag, platform_request_id: text,
  excerpt: Joi.string().allow('').max(4096), missing_proof: text.description('What the contract of the platform promised and the answer lacked.'),
};

const candidate = Joi.object({
  platform_post_id: Joi.string(), url: text, created_at: wireInstant(), excerpt: Joi.string().allow('').max(280),
  matched: Joi.array().items(Joi.valid('media_ids', 'asset', 'text', 'link', 'key', 'parent', 'time', 'author', 'token').optional()), conclusive: flag,
});

/** Exactly the fields of each kind. */
const DATA: Record<string, Joi.ObjectSchema> = {
  request_progress: Joi.object({
    progress: Joi.valid(...REQUEST_PROGRESS), connected_at: time, headers_sent_at: time, body_sent_at: time, answer_started_at: time,
    bytes_sent: count, bytes_received: count, transport_error: transportError,
  }),
  platform_answer: Joi.object(answer),
  late_answer: Joi.object({ ...answer, arrived_after_ms: count }),
  object_read: Joi.object({ object: Joi.string(), found: flag, http_status: count, state: text, url: text, fields: Joi.object().pattern(Joi.string(), Joi.string().allow('').max(512)) }),
  listing: Joi.object({ window_from: wireInstant(), window_to: wireInstant(), items_seen: count, complete: flag, candidates: Joi.array().max(10).items(candidate.optional()) }),
  media_pull: Joi.object({ fetched: flag, fetch_count: count, first_at: time, last_at: time, url_revoked_at: time }),
  platform_webhook: Joi.object({ event: Joi.string(), received_at: wireInstant(), platform_post_id: text, correlation: Joi.string() }),
  duplicate_refusal: Joi.object({ refusing_operation_id: wireId('op_'), named_object: text }),
  probe_error: Joi.object({ http_status: count.allow(null), transport_error: transportError, reason: Joi.valid('rate_limited', 'token_expired', 'permission', 'unavailable', 'malformed', 'budget') }),
};

const common = {
  id: wireId('obs_'),
  operation_id: wireId('op_'),
  step: text,
  source: Joi.valid('sender', 'probe', 'webhook', 'media_host', 'operator'),
  conclusion: Joi.valid('happened', 'did_not_happen', 'undetermined'),
  probe_ordinal: Joi.number().integer().min(1).allow(null),
  observed_at: wireInstant(),
  summary: Joi.string().allow('').max(300),
};

export const evidenceSchema = Joi.alternatives().try(...Object.entries(DATA).map(([kind, data]) => Joi.object({ ...common, kind: Joi.valid(kind), data })));
