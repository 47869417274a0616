import type { AnyRoute, Call, Reply } from '../../route.ts';
import type { WordRow } from './admin-types.ts';
import { ask } from './ask.ts';
import { listLedger, listObjects, readEntry } from './ledger.ts';
import { publicPage } from './public-page.ts';
import { reset } from './reset.ts';
import { sample } from './sample.ts';
import { presentWord } from './sandbox.present.ts';
import { entrySchema, ledgerPageSchema, ledgerQuery, ledgerSummarySchema, objectPageSchema, resetBody, resetSchema, wordsSchema } from './sandbox.schema.ts';
import { summarizeLedger } from './summary.ts';

const tag = 'sandbox';
const HTML = 'text/html';

async function listWords(call: Call): Promise<Reply> {
  const { words } = await ask<{ words: WordRow[] }>(call.infra, '/words');
  return { status: 200, body: { data: words.map(presentWord), next_cursor: null, has_more: false } };
}

export const sandboxRoutes: readonly AnyRoute[] = [
  {
    method: 'GET', path: '/v1/sandbox/ledger', operationId: 'listSandboxLedger', summary: 'Read what became public at the sandbox', tag, permission: 'read', testOnly: true,
    paged: true, query: ledgerQuery,
    replies: { 200: { description: 'A page of entries, oldest first.', schema: ledgerPageSchema } },
    errors: [],
    handler: listLedger,
  },
  {
    method: 'GET', path: '/v1/sandbox/ledger/summary', operationId: 'summarizeSandboxLedger', summary: 'Count what became public at the sandbox', tag, permission: 'read', testOnly: true,
    query: ledgerQuery,
    replies: { 200: { description: 'Counts under the same filters.', schema: ledgerSummarySchema } },
    errors: [],
    handler: summarizeLedger,
  },
  {
    method: 'GET', path: '/v1/sandbox/ledger/{id}', operationId: 'getSandboxEntry', summary: 'Read an entry of the ledger', tag, permission: 'read', testOnly: true,
    pathIds: { id: { prefix: 'sbx_', notFound: 'NOT_FOUND', resource: 'sandbox_entry' } },
    replies: { 200: { description: 'The entry.', schema: entrySchema } },
    errors: ['WORKSPACE_ACCESS_DENIED'],
    handler: readEntry,
  },
  {
    method: 'GET', path: '/v1/sandbox/objects', operationId: 'listSandboxObjects', summary: 'Read what is public at the sandbox now', tag, permission: 'read', testOnly: true,
    paged: true, query: ledgerQuery,
    replies: { 200: { description: 'A page of objects, oldest first.', schema: objectPageSchema } },
    errors: [],
    handler: listObjects,
  },
  {
    method: 'POST', path: '/v1/sandbox/reset', operationId: 'resetSandbox', summary: 'Empty sandbox accounts and begin a new epoch', tag, permission: 'write', testOnly: true,
    body: resetBody,
    replies: { 200: { description: 'The new epoch, and how many accounts were emptied.', schema: resetSchema } },
    errors: ['ACCOUNT_NOT_FOUND', 'WORKSPACE_ACCESS_DENIED'],
    handler: reset,
  },
  {
    method: 'GET', path: '/v1/sandbox/words', operationId: 'listSandboxWords', summary: 'List the magic words', tag, permission: 'read',
    replies: { 200: { description: 'The closed list.', schema: wordsSchema } },
    errors: [],
    handler: listWords,
  },
  {
    public: true, method: 'GET', path: '/sandbox/p/{platform}/{id}', operationId: 'getSandboxPage', summary: 'A post at the sandbox, as its readers see it', tag,
    replies: { 200: { description: 'The page.', file: HTML }, 404: { description: 'Removed, or never there.', file: HTML } },
    handler: publicPage,
  },
  {
    public: true, method: 'GET', path: '/sandbox/samples/{name}', operationId: 'getSandboxSample', summary: 'A small real file for first posts', tag,
    replies: { 200: { description: 'The file.', file: 'image/*, video/mp4, application/pdf, audio/mpeg' } },
    handler: sample,
  },
];
