import { LIBRARY_ERRORS } from '../../library.ts';
import type { RouteSpec } from '../../route.ts';
import { create, list, patch, read, readDefault, remove, setDefault, unsetDefault } from './signatures.handlers.ts';
import { createBody, defaultQuery, listQuery, signaturePage, signatureReply, updateBody } from './signatures.schema.ts';

const tag = 'signatures';
const pathIds = { id: { prefix: 'sig_', notFound: 'NOT_FOUND', resource: 'signature' } } as const;

export const signatureRoutes: readonly RouteSpec[] = [
  {
    method: 'GET', path: '/v1/signatures', operationId: 'listSignatures', summary: 'List signatures, newest first', tag, permission: 'read', paged: true,
    query: listQuery,
    replies: { 200: { description: 'A page of signatures. Those of the organization have no workspace_id.', schema: signaturePage } },
    errors: LIBRARY_ERRORS.list,
    handler: list,
  },
  {
    method: 'POST', path: '/v1/signatures', operationId: 'createSignature', summary: 'Make a signature', tag, permission: 'write',
    body: createBody,
    replies: { 201: { description: 'The signature.', schema: signatureReply, headers: ['Location'] } },
    errors: LIBRARY_ERRORS.create,
    handler: create,
  },
  {
    method: 'GET', path: '/v1/signatures/default', operationId: 'getDefaultSignature', summary: 'Read the signature that new posts get', tag, permission: 'read',
    query: defaultQuery,
    replies: { 200: { description: "The workspace's default, else the organization's.", schema: signatureReply } },
    errors: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: readDefault,
  },
  {
    method: 'GET', path: '/v1/signatures/{id}', operationId: 'getSignature', summary: 'Read a signature', tag, permission: 'read', pathIds,
    replies: { 200: { description: 'The signature.', schema: signatureReply } },
    errors: LIBRARY_ERRORS.read,
    handler: read,
  },
  {
    method: 'PATCH', path: '/v1/signatures/{id}', operationId: 'updateSignature', summary: 'Change a signature; posts that carry it stay as they are', tag, permission: 'write', pathIds,
    body: updateBody,
    replies: { 200: { description: 'The signature as it is now.', schema: signatureReply } },
    errors: [...LIBRARY_ERRORS.change, 'REVISION_CONFLICT'],
    handler: patch,
  },
  {
    method: 'DELETE', path: '/v1/signatures/{id}', operationId: 'deleteSignature', summary: 'Delete a signature; posts that carry it stay as they are', tag, permission: 'write', pathIds,
    replies: { 204: { description: 'It is gone. A default that is deleted leaves none.' } },
    errors: LIBRARY_ERRORS.change,
    handler: remove,
  },
  {
    method: 'POST', path: '/v1/signatures/{id}/set-default', operationId: 'setDefaultSignature', summary: 'Make a signature the default of its workspace or organization', tag, permission: 'write', pathIds,
    replies: { 200: { description: 'The signature, the only default of its scope.', schema: signatureReply } },
    errors: LIBRARY_ERRORS.change,
    handler: setDefault,
  },
  {
    method: 'POST', path: '/v1/signatures/{id}/unset-default', operationId: 'unsetDefaultSignature', summary: 'Let a signature be the default no longer', tag, permission: 'write', pathIds,
    replies: { 200: { description: 'The signature.', schema: signatureReply } },
    errors: LIBRARY_ERRORS.change,
    handler: unsetDefault,
  },
];
