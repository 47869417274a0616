import Joi from 'joi';
import { TAG_NAME_MAX_CHARS } from '../../../infra/contract/limits.ts';
import { listedWorkspaceField, workspaceOfNewField } from '../../library.ts';
import { failIssue, pageSchema, trimmed, wireId, wireInstant } from '../../validation/joi-types.ts';

const QUERY_TEXT_MAX_CHARS = 200;
const COLOR = /^#[0-9A-Fa-f]{6}$/;

const editable = {
  name: trimmed(TAG_NAME_MAX_CHARS).description('Unique in its workspace or the organization, in whatever case.'),
  color: Joi.string().meta({ openapi: { pattern: COLOR.source } }).custom(storedColor).description('#RRGGBB'),
};

export const createBody = Joi.object({
  name: editable.name.required(),
  color: editable.color.required(),
  workspace_id: workspaceOfNewField,
});

export const updateBody = Joi.object(editable);

export const listQuery = Joi.object({
  workspace_id: listedWorkspaceField,
  q: Joi.string().max(QUERY_TEXT_MAX_CHARS).description('Part of the name, in any case.'),
});

export const tagReply = Joi.object({
  id: wireId('tag_'),
  name: Joi.string(),
  color: Joi.string(),
  workspace_id: wireId('ws_').allow(null),
  created_at: wireInstant(),
  updated_at: wireInstant(),
});

export const tagPage = pageSchema(tagReply.optional());

function storedColor(color: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  return COLOR.test(color) ? color.toUpperCase() : failIssue(helpers, { code: 'invalid_string', message: 'must be a color such as #1A2B3C' });
}
