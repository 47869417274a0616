import Joi from 'joi';
import type { IssueCode } from '../../infra/contract/errors.ts';
import { parseInstant } from './instant.ts';

/** Ends a joi `custom()` with one of our own issues: `return failIssue(helpers, { code: 'custom', message: '…' })`. */
export function failIssue(helpers: Joi.CustomHelpers, issue: { code: IssueCode | (string & {}); message: string }): Joi.ErrorReport {
  return helpers.error('issue', { issue });
}

/** An instant of a request; becomes a Date. */
export function instant(): Joi.StringSchema {
  return Joi.string().meta({ format: 'date-time' }).custom((text: string, helpers) => parseInstant(text) ?? failIssue(helpers, {
    code: 'invalid_string', message: 'must be an RFC 3339 date-time with an offset, e.g. 2026-11-21T07:13:14.123Z',
  }));
}

/** A text that is stored without white space around it. */
export function trimmed(maxChars: number): Joi.StringSchema {
  return Joi.string().meta({ openapi: { maxLength: maxChars } }).custom((text: string, helpers) => {
    const shown = text.trim();
    if (shown === '') return failIssue(helpers, { code: 'too_small', message: 'must not be blank' });
    return [...shown].length > maxChars ? failIssue(helpers, { code: 'too_big', message: `must have at most ${maxChars} characters` }) : shown;
  });
}

/** An instant of a reply: UTC with exactly three fraction digits. */
export function wireInstant(): Joi.StringSchema {
  return Joi.string().pattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/).meta({ format: 'date-time' });
}

/** An id of a reply. */
export function wireId(prefix: string): Joi.StringSchema {
  return Joi.string().pattern(new RegExp(`^${prefix}[0-9a-f]{32}$`));
}

/** The envelope of a list; `more` are members beside it, e.g. `total`. */
export function pageSchema(item: Joi.Schema, more: Record<string, Joi.Schema> = {}): Joi.ObjectSchema {
  return Joi.object({ data: Joi.array().items(item).required(), next_cursor: Joi.string().allow(null).required(), has_more: Joi.boolean().required(), ...more });
}
