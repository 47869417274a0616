import Joi from 'joi';
import { isId } from '../../../infra/contract/ids.ts';
import { VERDICT_REASON_MAX_CHARS } from '../../../infra/contract/limits.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { OPERATION_KINDS, OPERATION_STATUSES, PROBING, SETTLED_BY } from '../../../infra/contract/statuses.ts';
import { parseInstant } from '../../validation/instant.ts';
import { failIssue, instant } from '../../validation/joi-types.ts';

const SUBJECT_ID_MAX_CHARS = 512;
const NATIVE_ID_MAX_CHARS = 2_048;
const URL_MAX_CHARS = 2_048;
const ERROR_CODE_MAX_CHARS = 128;
const ERROR_MESSAGE_MAX_CHARS = 2_048;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A duration becomes `{ms}`, a date-time becomes a Date. */
const age = Joi.string().custom((text: string, helpers) => {
  const duration = /^([1-9][0-9]{0,4})([mhd])$/.exec(text);
  if (duration !== null) return { ms: Number(duration[1]) * UNIT_MS[duration[2] as keyof typeof UNIT_MS] };
  return parseInstant(text) ?? failIssue(helpers, { code: 'invalid_string', message: 'must be a duration such as 90m, 12h or 7d, or an RFC 3339 date-time with an offset' });
}).description('Duration (30m, 12h, 7d) or date-time; compares unknown_since with status=unknown, else created_at.');

const filters = {
  status: Joi.array().items(Joi.valid(...OPERATION_STATUSES)),
  kind: Joi.array().items(Joi.valid(...OPERATION_KINDS)),
  platform: Joi.array().items(Joi.valid(...PLATFORMS)),
  account_id: Joi.string(),
  workspace_id: Joi.string(),
  post_id: Joi.string(),
  target_id: Joi.string(),
  subject_id: Joi.string().max(SUBJECT_ID_MAX_CHARS),
  older_than: age,
  settled_by: Joi.valid(...SETTLED_BY),
  probing: Joi.valid(...PROBING),
};

export const listOperationsQuery = Joi.object({
  ...filters,
  sort: Joi.valid('newest', 'oldest').default('newest').description('oldest with status=unknown orders by unknown_since.'),
  include: Joi.array().items(Joi.string()).description('steps.'),
});

export const operationsSummaryQuery = Joi.object({
  ...filters,
  from: instant().description('Earliest created_at, inclusive.'),
  to: instant().description('Latest created_at, inclusive.'),
});

const address = Joi.string().max(URL_MAX_CHARS).custom((text: string, helpers) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' ? text : failIssue(helpers, { code: 'invalid_string', message: 'must be an https address of the post on its platform' });
}).meta({ format: 'uri' });

/** Trimmed before it is measured. */
const reason = Joi.string().allow('').custom((text: string, helpers) => {
  const trimmed = text.trim();
  if (trimmed === '') return failIssue(helpers, { code: 'too_small', message: 'must say why, in at least one character that is not blank' });
  if ([...trimmed].length > VERDICT_REASON_MAX_CHARS) return failIssue(helpers, { code: 'too_big', message: `must have at most ${VERDICT_REASON_MAX_CHARS} characters` });
  return trimmed;
}).description('Why, for whoever reads it later. Trimmed.');

const verdictId = Joi.string().custom((text: string, helpers) => (isId('verdict', text) ? text : failIssue(helpers, { code: 'invalid_string', message: 'must be the id of a verdict, ver_…' })));

export const verdictBody = Joi.object({
  outcome: Joi.valid('published', 'not_published', 'happened', 'did_not_happen').required().description('published = happened, not_published = did_not_happen; all four are taken for every kind.'),
  platform_post_id: Joi.string().min(1).max(NATIVE_ID_MAX_CHARS).allow(null),
  url: address.allow(null),
  reason: reason.required(),
  expected_revision: Joi.number().integer().min(1).required().description('The revision that was looked at.'),
  supersedes: verdictId.allow(null).description('The verdict that this one reverses.'),
});

type Outcome = 'succeeded' | 'failed';

/** A field of one outcome is no field with the other. */
const only = (outcome: Outcome, schema: Joi.Schema) => schema.when('outcome', {
  is: outcome, otherwise: Joi.any().custom((_, helpers) => failIssue(helpers, { code: 'unrecognized_keys', message: `is a field of outcome ${outcome} only` })),
});
const needed = (outcome: Outcome, schema: Joi.Schema) => only(outcome, schema).when('outcome', { is: Joi.invalid(outcome), otherwise: Joi.required() });

export const reconcileTargetBody = Joi.object({
  outcome: Joi.valid('succeeded', 'failed').required(),
  publish_operation_id: Joi.string().required().description("The target's newest publish operation."),
  provider_post_id: needed('succeeded', Joi.string().min(1).max(NATIVE_ID_MAX_CHARS)),
  provider_url: only('succeeded', address.allow(null)),
  error_code: needed('failed', Joi.string().min(1).max(ERROR_CODE_MAX_CHARS)),
  error_message: needed('failed', Joi.string().min(1).max(ERROR_MESSAGE_MAX_CHARS)),
});
