import Joi from 'joi';
import { TEMPLATE_VALUE_MAX_CHARS, TEMPLATE_VARIABLES_MAX } from '../../../infra/contract/limits.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { failIssue } from '../../validation/joi-types.ts';
import { canonicalZone } from '../../time-zone.ts';
import { VARIABLE_NAME } from './variables.ts';

export const renderBody = Joi.object({
  variables: Joi.object().pattern(VARIABLE_NAME, Joi.string().allow('').max(TEMPLATE_VALUE_MAX_CHARS)).max(TEMPLATE_VARIABLES_MAX).default({}),
  platform: Joi.string().valid(...PLATFORMS),
  account_id: Joi.string().description('Its platform, its name, and the signature of its workspace.'),
  date: Joi.string().meta({ format: 'date' }).custom(calendarDay).description('What {{date}} stands for. Default today.'),
  timezone: Joi.string().custom(zone).description('IANA time zone of today. Default UTC.'),
  skip_signature: Joi.boolean().default(true),
});

export const renderReply = Joi.object({
  content: Joi.string().allow(''),
  platform: Joi.valid(...PLATFORMS, null),
  used: Joi.array().items(Joi.string().optional()),
  missing: Joi.array().items(Joi.string().optional()),
  length: Joi.object({ value: Joi.number().integer(), limit: Joi.number().integer(), unit: Joi.string() }).allow(null),
});

function calendarDay(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const midnight = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  const isDay = midnight !== null && !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
  return isDay ? text : failIssue(helpers, { code: 'invalid_string', message: 'must be a day of the calendar, YYYY-MM-DD' });
}

function zone(name: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  return canonicalZone(name) ?? failIssue(helpers, { code: 'invalid_value', message: 'must be an IANA time zone such as Europe/Berlin' });
}
