import Joi from 'joi';
import {
  CATCH_UP_LATENESS_MAX_SECONDS, CONTENT_MAX_CHARS, NOTES_MAX_CHARS, TAGS_OF_POST_MAX, TARGET_SELECTORS_MAX, ID_MAX_CHARS, TARGETS_MAX,
  TEMPLATE_VALUE_MAX_CHARS, TEMPLATE_VARIABLES_MAX,
} from '../../../infra/contract/limits.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { POST_STATUSES, TARGET_STATUSES } from '../../../infra/contract/statuses.ts';
import { failIssue } from '../../validation/joi-types.ts';
import { VARIABLE_NAME } from '../content-templates/variables.ts';
import { mediaList, targetOptions } from './planning/option-schemas.ts';
import { inRange, isFault, readSchedule, type Schedule } from './planning/schedule.ts';
import { canonicalZone } from '../../time-zone.ts';

const ACCOUNTS_MAX = 50;
const QUERY_TEXT_MAX_CHARS = 200;

export const timezone = Joi.string().custom((name: string, helpers) => canonicalZone(name) ?? failIssue(helpers, { code: 'invalid_value', message: 'must be an IANA time zone such as Europe/Berlin' }))
  .description('IANA time zone, any case. Default UTC.');

const TIME_FORMS = 'now, draft, auto (the best free slot), or an ISO 8601 time at most 30 days ahead; without an offset it is a wall time in timezone.';

type IsJudged = (read: Schedule) => boolean;
/** Where neither the zone nor a stored time is known yet, the range is judged once the post is read. */
const always: IsJudged = () => true;
const ofInstants: IsJudged = ({ wallTime }) => wallTime === null;
const never: IsJudged = () => false;

/** A zone that is not valid has its own issue, so the time is then read as UTC. */
function scheduledAt(isRangeJudged: IsJudged): Joi.StringSchema {
  return Joi.string().description(TIME_FORMS).custom((given: string, helpers) => {
    const zone: unknown = (helpers.state.ancestors as { timezone?: unknown }[])[0]?.timezone;
    const { now } = helpers.prefs.context as { now: Date };
    const read = readSchedule(given, { timezone: (typeof zone === 'string' ? canonicalZone(zone) : null) ?? 'UTC', now });
    const judged = isFault(read) || !isRangeJudged(read) ? read : inRange(read, { now });
    return isFault(judged) ? failIssue(helpers, { code: judged.code, message: judged.message.replace(/^scheduled_at /, '') }) : given;
  });
}

const targets = Joi.array().items(Joi.string().min(1).max(ID_MAX_CHARS)).min(1).max(TARGET_SELECTORS_MAX)
  .description('Account ids, platform names (all accounts on it) or workspace ids (all accounts in it).');

const notes = Joi.string().allow('', null).max(NOTES_MAX_CHARS).description('Internal, never published.');

const editable = {
  content: Joi.string().allow('', null).max(CONTENT_MAX_CHARS),
  media: mediaList.allow(null),
  target_options: targetOptions.allow(null),
  timezone: timezone.allow(null),
  notes,
  template_id: Joi.string().max(ID_MAX_CHARS).allow(null).description('A content template as the source of the text. Explicit content takes precedence.'),
  template_variables: Joi.object().pattern(VARIABLE_NAME, Joi.string().allow('').max(TEMPLATE_VALUE_MAX_CHARS)).max(TEMPLATE_VARIABLES_MAX).allow(null)
    .description('Values by name. date and account_name are built in.'),
  skip_signature: Joi.boolean().allow(null).description('true: the default signature is not put into the text.'),
  shorten_urls: Joi.boolean().allow(null).description('Pro. Takes effect only where the short-link mode is ask.'),
  tag_ids: Joi.array().items(Joi.string().max(ID_MAX_CHARS)).max(TAGS_OF_POST_MAX).allow(null),
  allow_duplicate: Joi.boolean().allow(null).description('true: a text that the account has had within a day is meant.'),
  catch_up: Joi.object({
    max_lateness_seconds: Joi.number().integer().min(0).max(CATCH_UP_LATENESS_MAX_SECONDS),
    on_late: Joi.string().valid('publish', 'skip', 'hold'),
  }).allow(null),
};

const created = { ...editable, workspace_id: Joi.string().allow('', null) };

export const createBody = Joi.object({
  targets: targets.required(),
  scheduled_at: scheduledAt(always).required(),
  ...created,
});

/** Its time is a finding where it is out of range; without a post to begin with it needs what a creation needs. */
export const preflightBody = Joi.object({
  post_id: Joi.string().max(ID_MAX_CHARS).allow(null).description('A draft or scheduled post that the other members are laid over.'),
  targets: targets.when('post_id', { is: Joi.string().required(), otherwise: Joi.required() }).description('As on creation. Required without post_id.'),
  scheduled_at: scheduledAt(never).when('post_id', { is: Joi.string().required(), otherwise: Joi.required() }).description(`${TIME_FORMS} Required without post_id.`),
  ...created,
});

export const updateBody = Joi.object({
  targets,
  scheduled_at: scheduledAt(never),
  ...editable,
  expected_revision: Joi.number().integer().min(1),
});

/** What is absent or null is the source's, the notes excepted. */
export const duplicateBody = Joi.object({
  // By the form of what is given, so that what is wrong inside a list is named by its place.
  targets: Joi.alternatives().conditional(Joi.ref('.'), { is: Joi.array().required(), otherwise: Joi.valid('all', 'failed') }).try(targets).allow(null).description('all, failed (those whose outcome is known), or selectors as on creation. Default all.'),
  scheduled_at: scheduledAt(ofInstants).allow(null),
  content: editable.content,
  notes,
  allow_duplicate: editable.allow_duplicate,
});

export const notesBody = Joi.object({ notes });

export const retryBody = Joi.object({
  targets: Joi.array().items(Joi.string().min(1).max(ID_MAX_CHARS)).min(1).max(TARGETS_MAX).description('Account ids or target ids; absent: every failed target whose outcome is known.'),
});

const platforms = Joi.array().items(Joi.string().valid(...PLATFORMS));

/** The comma lists of a query; texts without a resource yet are accepted and find nothing. */
export const listQuery = Joi.object({
  workspace_id: Joi.string(),
  account_id: Joi.string(),
  account_ids: Joi.array().items(Joi.string()).max(ACCOUNTS_MAX).description('Wins over account_id.'),
  status: Joi.array().items(Joi.string().valid(...POST_STATUSES)),
  platform: platforms,
  tag_id: Joi.string(),
  template_id: Joi.string(),
  idea_id: Joi.string(),
  recycled_from_id: Joi.string(),
  thread_group_id: Joi.string(),
  roots_only: Joi.boolean(),
  q: Joi.string().max(QUERY_TEXT_MAX_CHARS).description('Substring of content or notes, in any case.'),
  platform_post_id: Joi.string().description("The platform's own id, or the published URL."),
  include: Joi.array().items(Joi.string()).description('targets, media, cross_post_actions, all.'),
  include_external: Joi.boolean(),
});

export const postLogsQuery = Joi.object({
  account_id: Joi.string(),
  platform: platforms,
  status: Joi.array().items(Joi.string().valid(...TARGET_STATUSES)),
  error_code: Joi.string(),
  include_drafts: Joi.boolean(),
});

export const logsQuery = postLogsQuery.keys({ post_id: Joi.string(), workspace_id: Joi.string() });
