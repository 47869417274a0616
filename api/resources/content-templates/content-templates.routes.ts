import { LIBRARY_ERRORS } from '../../library.ts';
import type { RouteSpec } from '../../route.ts';
import { create, list, patch, read, remove } from './content-templates.handlers.ts';
import { createBody, listQuery, templatePage, templateReply, updateBody } from './content-templates.schema.ts';
import { renderReply, renderBody } from './render.schema.ts';
import { renderTemplate } from './render.ts';

const tag = 'content-templates';
const pathIds = { id: { prefix: 'tmpl_', notFound: 'TEMPLATE_NOT_FOUND', resource: 'template' } } as const;

export const contentTemplateRoutes: readonly RouteSpec[] = [
  {
    method: 'GET', path: '/v1/content-templates', operationId: 'listContentTemplates', summary: 'List content templates, newest first', tag, permission: 'read', paged: true,
    query: listQuery,
    replies: { 200: { description: 'A page of templates.', schema: templatePage } },
    errors: LIBRARY_ERRORS.list,
    handler: list,
  },
  {
    method: 'POST', path: '/v1/content-templates', operationId: 'createContentTemplate', summary: 'Make a content template', tag, permission: 'write',
    body: createBody,
    replies: { 201: { description: 'The template.', schema: templateReply, headers: ['Location'] } },
    errors: LIBRARY_ERRORS.create,
    handler: create,
  },
  {
    method: 'GET', path: '/v1/content-templates/{id}', operationId: 'getContentTemplate', summary: 'Read a content template', tag, permission: 'read', pathIds,
    replies: { 200: { description: 'The template.', schema: templateReply } },
    errors: LIBRARY_ERRORS.read,
    handler: read,
  },
  {
    method: 'PATCH', path: '/v1/content-templates/{id}', operationId: 'updateContentTemplate', summary: 'Change a content template; posts made of it stay as they are', tag, permission: 'write', pathIds,
    body: updateBody,
    replies: { 200: { description: 'The template as it is now.', schema: templateReply } },
    errors: [...LIBRARY_ERRORS.change, 'REVISION_CONFLICT'],
    handler: patch,
  },
  {
    method: 'DELETE', path: '/v1/content-templates/{id}', operationId: 'deleteContentTemplate', summary: 'Delete a content template; posts made of it stay as they are', tag, permission: 'write', pathIds,
    replies: { 204: { description: 'It is gone.' } },
    errors: LIBRARY_ERRORS.change,
    handler: remove,
  },
  {
    method: 'POST', path: '/v1/content-templates/{id}/render', operationId: 'renderContentTemplate', summary: 'See the text that a post would get', tag, permission: 'read', pathIds,
    body: renderBody,
    replies: { 200: { description: 'The text. Variables without a value stay as they are written.', schema: renderReply } },
    errors: ['WORKSPACE_ACCESS_DENIED', 'ACCOUNT_NOT_FOUND', 'WORKSPACE_SCOPE_CONFLICT', 'BAD_REQUEST'],
    handler: renderTemplate,
  },
];
