import Joi from 'joi';
import { wireId, wireInstant } from '../../../validation/joi-types.ts';
import { shownErrorReply } from '../bulk.schema.ts';
import { timezone } from '../posts.schema.ts';
import { DELIMITERS } from './parse.ts';

export const bulkCsvQuery = Joi.object({
  dry_run: Joi.boolean().default(false).description('true: every row is checked in full, and nothing is stored.'),
  workspace_id: Joi.string().description('Of rows that name none.'),
  timezone: timezone.description('IANA time zone of rows that name none.'),
  delimiter: Joi.string().valid(...Object.keys(DELIMITERS)).description('Absent: whichever occurs most in the header.'),
});

const count = Joi.number().integer().min(0);
const finding = Joi.object({ code: Joi.string(), message: Joi.string() });

const rowResult = Joi.object({
  row: count.min(1).description('1 is the first row after the header.'),
  line: count.min(1).description('Of the file, where the row begins.'),
  status: Joi.valid('success', 'error', 'skipped'),
  post_id: wireId('post_').optional(),
  scheduled_at: wireInstant().allow(null).optional(),
  external_id: Joi.string().optional(),
  error: shownErrorReply.optional(),
  warnings: Joi.array().items(finding.optional()).optional(),
});

export const bulkCsvReply = Joi.object({
  data: Joi.array().items(rowResult),
  summary: Joi.object({ total_rows: count, succeeded: count, failed: count, skipped: count, posts_created: count }),
  dry_run: Joi.boolean(),
});
