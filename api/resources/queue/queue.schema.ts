import Joi from 'joi';
import { FIND_SLOT_ACCOUNTS_MAX, FIND_SLOT_COUNT_MAX, QUEUE_NAME_MAX_CHARS, QUEUE_PREVIEW_DEFAULT, QUEUE_PREVIEW_MAX, QUEUE_SLOTS_MAX } from '../../../infra/contract/limits.ts';
import { expectedRevisionField } from '../../revision.ts';
import { failIssue, instant, pageSchema, wireId, wireInstant } from '../../validation/joi-types.ts';
import { canonicalZone } from '../../time-zone.ts';

const ACCOUNT_ID_MAX_CHARS = 64;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const timezone = () => Joi.string().custom((name: string, helpers) => canonicalZone(name) ?? failIssue(helpers, { code: 'invalid_value', message: 'must be an IANA time zone such as Europe/Berlin' }));

const slot = Joi.object({
  day_of_week: Joi.number().integer().min(0).max(6).required().description('0 = Sunday.'),
  time: Joi.string().required().description('HH:MM, 00:00 to 23:59.')
    .custom((given: string, helpers) => (TIME.test(given) ? given : failIssue(helpers, { code: 'invalid_string', message: 'must be a time of day HH:MM, 00:00 to 23:59' }))),
  timezone: timezone().description('IANA time zone, any case. Default: timezone of the body.'),
});

const fields = {
  name: Joi.string().max(QUEUE_NAME_MAX_CHARS).allow(null),
  slots: Joi.array().items(slot).min(1).max(QUEUE_SLOTS_MAX).description('The weekly times. Equal ones are folded.'),
  timezone: timezone().default('UTC').description('Of slots that name none. Default UTC.'),
  is_default: Joi.boolean().description('Whether posts of the scope with scheduled_at "auto" follow it. The first schedule of a scope always is the default.'),
  set_as_default: Joi.boolean().description('Another name of is_default.'),
};

export const createBody = Joi.object({ ...fields, slots: fields.slots.required(), workspace_id: Joi.string().allow(null).description('null = the whole organization.') }).oxor('is_default', 'set_as_default');

export const updateBody = Joi.object({ ...fields, expected_revision: expectedRevisionField }).oxor('is_default', 'set_as_default');

const workspaceId = Joi.string();

export const listQuery = Joi.object({ workspace_id: workspaceId });
export const defaultQuery = Joi.object({ workspace_id: workspaceId.description('Whose default is meant.') });

const slotsQuery = {
  workspace_id: workspaceId.description("Whose queue is meant: its default schedule, else the organization's."),
  queue_id: Joi.string().description('A schedule other than the default.'),
  account_id: Joi.string().description('Slots that this account cannot take are not free.'),
  after: instant().description('Only slots later than this.'),
};

export const nextQuery = Joi.object(slotsQuery);
export const previewQuery = Joi.object({ ...slotsQuery, count: Joi.number().integer().min(1).max(QUEUE_PREVIEW_MAX).default(QUEUE_PREVIEW_DEFAULT) });

export const findSlotQuery = Joi.object({
  account_id: Joi.array().items(Joi.string().max(ACCOUNT_ID_MAX_CHARS)).min(1).max(FIND_SLOT_ACCOUNTS_MAX).required().description('The accounts of the post, separated by commas.'),
  after: instant().description('Only slots later than this.'),
  strategy: Joi.string().valid('queue', 'best-time', 'smart').default('smart').description('queue: only slots of the queue. best-time: without them. smart: as scheduled_at "auto".'),
  count: Joi.number().integer().min(1).max(FIND_SLOT_COUNT_MAX).default(1),
  timezone: timezone().description('In which hours of the week are meant.'),
  workspace_id: workspaceId,
});

export const scheduleReply = Joi.object({
  id: wireId('qs_'),
  name: Joi.string().allow(null),
  slots: Joi.array().items(Joi.object({ day_of_week: Joi.number().integer(), time: Joi.string(), timezone: Joi.string() })),
  is_default: Joi.boolean(),
  workspace_id: wireId('ws_').allow(null),
  revision: Joi.number().integer(),
  created_at: wireInstant(),
  updated_at: wireInstant(),
});

export const schedulePage = pageSchema(scheduleReply.optional());

export const nextReply = Joi.object({ next_slot_at: wireInstant(), queue_id: wireId('qs_'), local: Joi.string() });

export const previewReply = Joi.object({
  slots: Joi.array().items(wireInstant().optional()).description('The free ones.'),
  data: Joi.array().items(Joi.object({ slot_at: wireInstant(), local: Joi.string(), queue_id: wireId('qs_'), taken_by: wireId('post_').allow(null) }).optional()),
});

export const findSlotReply = Joi.object({
  slots: Joi.array().items(Joi.object({ slot_at: wireInstant(), score: Joi.number(), reason: Joi.valid('queue_slot', 'best_time', 'default'), conflicts: Joi.valid(0) }).optional()),
  fallback: Joi.boolean().description('Whether nothing better than the defaults of the platforms was known.'),
});
