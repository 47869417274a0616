import type { RouteSpec } from '../../route.ts';
import { list, patch, read } from './accounts.handlers.ts';
import { accountPageSchema, accountSchema, listAccountsQuery, patchAccountBody } from './accounts.schema.ts';

const pathIds = { id: { prefix: 'acc_', notFound: 'ACCOUNT_NOT_FOUND', resource: 'account' } } as const;

export const accountRoutes: readonly RouteSpec[] = [
  {
    method: 'GET', path: '/v1/accounts', operationId: 'listAccounts', summary: 'List social accounts', tag: 'accounts', permission: 'read',
    paged: true, query: listAccountsQuery,
    replies: { 200: { description: 'A page of accounts.', schema: accountPageSchema } },
    errors: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: list,
  },
  {
    method: 'GET', path: '/v1/accounts/{id}', operationId: 'getAccount', summary: 'Read a social account', tag: 'accounts', permission: 'read', pathIds,
    replies: { 200: { description: 'The account.', schema: accountSchema } },
    errors: ['WORKSPACE_ACCESS_DENIED'],
    handler: read,
  },
  {
    method: 'PATCH', path: '/v1/accounts/{id}', operationId: 'updateAccount', summary: 'Change a social account', tag: 'accounts', permission: 'write', pathIds,
    body: patchAccountBody,
    replies: { 200: { description: 'The account.', schema: accountSchema } },
    errors: ['WORKSPACE_ACCESS_DENIED', 'ACCOUNT_DISCONNECTED'],
    handler: patch,
  },
];
