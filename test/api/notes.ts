import { setTimeout as pause } from 'node:timers/promises';
import Joi from 'joi';
import { ApiError } from '../../infra/contract/errors.ts';
import { newId } from '../../infra/contract/ids.ts';
import { allOf, pageReply, windowClause } from '../../api/page.ts';
import type { Call, Reply, RouteSpec } from '../../api/route.ts';
import { pageSchema, wireId } from '../../api/validation/joi-types.ts';
import { assertNamedWorkspace, visibleWorkspaces, workspaceOfNew } from '../../api/workspace-access.ts';

/** A resource that only tests have: each note is a row of the table `workspace`, so that what was done can be counted. */
const noteSchema = Joi.object({ id: wireId('ws_'), text: Joi.string(), workspace_id: Joi.string().allow(null) });

const noteBody = Joi.object({
  text: Joi.string().max(20).required(),
  count: Joi.number().integer().min(0).max(10),
  tags: Joi.array().max(3).items(Joi.object({ name: Joi.string().required(), weight: Joi.number().integer() })),
  map: Joi.object().pattern(Joi.string(), Joi.any()),
  color: Joi.valid('red', 'green').allow(null),
  workspace_id: Joi.string(),
  delay_ms: Joi.number().integer(),
  act: Joi.valid('refuse', 'break', 'sleep', 'wrong_reply'),
});

async function create(call: Call): Promise<Reply> {
  const { text, workspace_id, delay_ms, act } = call.body;
  if (workspace_id !== undefined) await assertNamedWorkspace(call, workspace_id, 'write');
  const workspaceId = workspaceOfNew(call.caller, workspace_id);
  const id = newId('workspace');
  await call.tx.execute('insert into workspace (id, organization_id, name, slug, status, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?)', [id, call.caller.organizationId, text, id, 'active', call.now, call.now]);
  if (delay_ms !== undefined) await pause(delay_ms);
  if (act === 'sleep') await call.tx.execute('select pg_sleep(60)');
  if (act === 'refuse') throw new ApiError('INVALID_STATE', 'No.', { details: { status: 'no' } });
  if (act === 'break') await call.tx.execute('select something that is no SQL');
  const body = { id, text, workspace_id: workspaceId, ...(act === 'wrong_reply' ? { secret_column: 1 } : {}) };
  return { status: 201, body, headers: { Location: `/v1/notes/${id}` }, workspaceIds: [workspaceId] };
}

async function list(call: Call): Promise<Reply> {
  const columns = { time: 'created_at', id: 'id' };
  const { order, ...window } = windowClause(call.window!, columns);
  const filters = call.query.text === undefined ? [] : [{ sql: 'name = ?', params: [call.query.text] }];
  const where = allOf([visibleWorkspaces(call.caller, 'id'), window, ...filters]);
  const rows = await call.tx.execute<{ id: string; name: string; created_at: string }[]>(`select id, name, created_at from workspace where ${where.sql} ${order}`, where.params);
  return pageReply(call, {
    rows,
    position: (row) => ({ at: new Date(row.created_at), id: row.id }),
    present: (page) => page.map((row) => ({ id: row.id, text: row.name, workspace_id: null })),
  });
}

async function read(call: Call): Promise<Reply> {
  const [row] = await call.tx.execute<{ id: string; name: string }[]>('select id, name from workspace where id = ?', [call.params.id]);
  if (row === undefined) throw new ApiError('NOT_FOUND', 'There is no such note.', { details: { resource: 'note' } });
  return { status: 200, body: { id: row.id, text: row.name, workspace_id: null } };
}

const created = { 201: { description: 'The note.', schema: noteSchema, headers: ['Location'] } };
const common = { tag: 'notes', summary: 'A note', errors: [] as string[] };

export const noteRoutes: readonly RouteSpec[] = [
  { ...common, method: 'POST', path: '/v1/notes', operationId: 'createNote', permission: 'write', body: noteBody, replies: created, errors: ['INVALID_STATE'], handler: create },
  { ...common, method: 'POST', path: '/v1/other-notes', operationId: 'createOtherNote', permission: 'write', body: noteBody, replies: created, handler: create },
  { ...common, method: 'GET', path: '/v1/notes', operationId: 'listNotes', permission: 'read', paged: true, query: Joi.object({ text: Joi.string(), old: Joi.boolean(), ids: Joi.array().items(Joi.string()) }), replies: { 200: { description: 'Notes.', schema: pageSchema(noteSchema) } }, handler: list },
  { ...common, method: 'GET', path: '/v1/notes/{id}', operationId: 'readNote', permission: 'read', pathIds: { id: { prefix: 'ws_', notFound: 'NOT_FOUND', resource: 'note' } }, replies: { 200: { description: 'A note.', schema: noteSchema } }, handler: read },
  { ...common, method: 'GET', path: '/v1/notes/latest', operationId: 'readLatestNote', permission: 'read', replies: { 200: { description: 'A word.', schema: Joi.object({ latest: Joi.boolean() }) } }, handler: async () => ({ status: 200, body: { latest: true } }) },
  { ...common, method: 'POST', path: '/v1/notes/{id}/poke', operationId: 'pokeNote', permission: 'write', replies: { 204: { description: 'Poked.' } }, handler: async () => ({ status: 204 }) },
  { ...common, method: 'DELETE', path: '/v1/notes/{id}', operationId: 'deleteNote', permission: 'write', replies: { 204: { description: 'Gone.' } }, handler: async () => ({ status: 204 }) },
  { ...common, method: 'POST', path: '/v1/notes/secret', operationId: 'createSecretNote', permission: 'write', replies: { 201: { description: 'A secret.', schema: Joi.object({ key: Joi.string().allow(null), secret_omitted: Joi.array().items(Joi.string()).optional() }) } }, handler: async (call) => ({ status: 201, body: { key: call.requestId }, secrets: ['key'] }) },
  { ...common, method: 'POST', path: '/v1/keyed-notes', operationId: 'createKeyedNote', permission: 'reconcile', idempotencyKey: 'required', replies: { 204: { description: 'Done.' } }, handler: async () => ({ status: 204 }) },
  { ...common, method: 'POST', path: '/v1/sandbox-notes', operationId: 'createSandboxNote', permission: 'write', testOnly: true, wholeOrganization: true, replies: { 204: { description: 'Done.' } }, handler: async () => ({ status: 204 }) },
  { ...common, method: 'GET', path: '/v1/live-notes', operationId: 'readLiveNotes', permission: 'read', liveOnly: true, replies: { 204: { description: 'Done.' } }, handler: async () => ({ status: 204 }) },
];
