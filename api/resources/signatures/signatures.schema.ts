import Joi from 'joi';
import { SIGNATURE_CONTENT_MAX_CHARS, SIGNATURE_NAME_MAX_CHARS } from '../../../infra/contract/limits.ts';
import { listedWorkspaceField, workspaceOfNewField } from '../../library.ts';
import { expectedRevisionField } from '../../revision.ts';
import { failIssue, pageSchema, trimmed, wireId, wireInstant } from '../../validation/joi-types.ts';
import { storedText } from '../posts/planning/render.ts';
import { withoutOuterBlankLines } from './apply-signature.ts';

const content = Joi.string().max(SIGNATURE_CONTENT_MAX_CHARS).description('Stored without blank lines around it.').custom((text: string, helpers) => {
  if (text.trim() === '') return failIssue(helpers, { code: 'too_small', message: 'must not be blank' });
  return withoutOuterBlankLines(storedText(text));
});

const editable = {
  name: trimmed(SIGNATURE_NAME_MAX_CHARS),
  content,
  position: Joi.string().valid('append', 'prepend'),
  is_default: Joi.boolean().description('At most one of a workspace, and one of the organization.'),
};

export const createBody = Joi.object({
  ...editable,
  name: editable.name.required(),
  content: content.required(),
  position: editable.position.default('append'),
  is_default: editable.is_default.default(false),
  workspace_id: workspaceOfNewField,
});

export const updateBody = Joi.object({ ...editable, expected_revision: expectedRevisionField });

export const listQuery = Joi.object({
  workspace_id: listedWorkspaceField,
  exact: Joi.boolean().description('true: only those of the workspace.'),
});

export const defaultQuery = Joi.object({ workspace_id: Joi.string() });

export const signatureReply = Joi.object({
  id: wireId('sig_'),
  name: Joi.string(),
  content: Joi.string(),
  is_default: Joi.boolean(),
  position: Joi.valid('append', 'prepend'),
  workspace_id: wireId('ws_').optional(),
  revision: Joi.number().integer(),
  created_at: wireInstant(),
  updated_at: wireInstant(),
});

export const signaturePage = pageSchema(signatureReply.optional());
