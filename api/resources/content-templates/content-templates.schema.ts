import Joi from 'joi';
import {
  TEMPLATE_CONTENT_MAX_CHARS, TEMPLATE_DESCRIPTION_MAX_CHARS, TEMPLATE_NAME_MAX_CHARS, TEMPLATE_TAG_MAX_CHARS, TEMPLATE_TAGS_MAX,
} from '../../../infra/contract/limits.ts';
import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import { listedWorkspaceField, workspaceOfNewField } from '../../library.ts';
import { expectedRevisionField } from '../../revision.ts';
import { pageSchema, wireId, wireInstant } from '../../validation/joi-types.ts';
import { storedText } from '../posts/planning/render.ts';

const QUERY_TEXT_MAX_CHARS = 200;

const content = Joi.string().max(TEMPLATE_CONTENT_MAX_CHARS).custom(storedText);

const editable = {
  name: Joi.string().max(TEMPLATE_NAME_MAX_CHARS),
  description: Joi.string().allow('', null).max(TEMPLATE_DESCRIPTION_MAX_CHARS),
  content: content.description('{{ name }} stands for a variable; {{date}} and {{account_name}} are built in. A backslash before the braces takes them by the letter.'),
  platform_overrides: Joi.object(Object.fromEntries(PLATFORMS.map((platform) => [platform, content]))).allow(null).description('Texts in place of `content`, by platform.'),
  tags: Joi.array().items(Joi.string().max(TEMPLATE_TAG_MAX_CHARS)).max(TEMPLATE_TAGS_MAX).description('Words that differ only in case are one; the first spelling stays.'),
};

export const createBody = Joi.object({
  ...editable,
  name: editable.name.required(),
  content: editable.content.required(),
  workspace_id: workspaceOfNewField,
});

export const updateBody = Joi.object({ ...editable, expected_revision: expectedRevisionField });

export const listQuery = Joi.object({
  workspace_id: listedWorkspaceField,
  tag: Joi.string().max(TEMPLATE_TAG_MAX_CHARS).description('One of its tags, in any case.'),
  q: Joi.string().max(QUERY_TEXT_MAX_CHARS).description('Part of the name or the content, in any case.'),
});

export const templateReply = Joi.object({
  id: wireId('tmpl_'),
  name: Joi.string(),
  description: Joi.string().allow('', null),
  content: Joi.string(),
  platform_overrides: Joi.object(Object.fromEntries(PLATFORMS.map((platform) => [platform, Joi.string().optional()]))).allow(null),
  tags: Joi.array().items(Joi.string().optional()),
  variables: Joi.array().items(Joi.string().optional()),
  workspace_id: wireId('ws_').allow(null),
  revision: Joi.number().integer(),
  created_at: wireInstant(),
  updated_at: wireInstant(),
});

export const templatePage = pageSchema(templateReply.optional());
