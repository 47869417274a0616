import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { codeOf, startApi, type TestApi } from '../support/api.ts';
import { account, apiKey, organization, workspace } from '../support/factories.ts';
import { noteRoutes } from './notes.ts';

let api: TestApi;
let organizationId: string;
let granted: string;
let other: string;
let archived: string;
let scoped: string;
let whole: string;

beforeAll(async () => {
  api = await startApi({ routes: noteRoutes });
  organizationId = (await organization(api.infra)).id;
  [granted, other, archived] = await Promise.all([workspace(api.infra, { organizationId }), workspace(api.infra, { organizationId }), workspace(api.infra, { organizationId, status: 'archived' })]).then((rows) => rows.map((row) => row.id)) as [string, string, string];
  scoped = (await apiKey(api.infra, { organizationId, workspaceScope: [granted, archived] })).secret;
  whole = (await apiKey(api.infra, { organizationId })).secret;
});
afterAll(() => api.close());

const post = (key: string, body: Record<string, unknown>) => api.send('POST', '/v1/notes', { key, body: { text: 'a', ...body } });

describe('workspace_id in a body', () => {
  test('unknown, foreign and malformed ids get one answer', async () => {
    const foreign = (await workspace(api.infra, { organizationId: (await organization(api.infra)).id })).id;
    const bodies = await Promise.all([`ws_${'0'.repeat(32)}`, foreign, 'nonsense', granted.toUpperCase()].map((workspace_id) => post(whole, { workspace_id })));
    for (const { status, body } of bodies) {
      expect([status, body.error.code, body.error.details]).toEqual([404, 'NOT_FOUND', { resource: 'workspace', field: 'workspace_id' }]);
    }
    expect(new Set(bodies.map((answer) => answer.text)).size).toBe(1);
  });

  test('not granted is 403, not active 409, granted is taken', async () => {
    expect(codeOf(await post(scoped, { workspace_id: other }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await post(scoped, { workspace_id: archived }))).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
    expect((await post(scoped, { workspace_id: granted })).body.workspace_id).toBe(granted);
  });

  test('a schema fault is told before the workspace is looked up', async () => {
    expect((await post(scoped, { workspace_id: other, wrong: 1 })).status).toBe(422);
  });

  test('absent: the organization level, the one granted workspace, or WORKSPACE_ID_REQUIRED', async () => {
    const single = (await apiKey(api.infra, { organizationId, workspaceScope: [granted] })).secret;
    const strict = await organization(api.infra, { requireWorkspaceId: true });
    const strictKey = (await apiKey(api.infra, { organizationId: strict.id })).secret;
    expect((await post(whole, {})).body.workspace_id).toBeNull();
    expect((await post(single, {})).body.workspace_id).toBe(granted);
    expect(codeOf(await post(scoped, {}))).toEqual([400, 'WORKSPACE_ID_REQUIRED']);
    expect(codeOf(await post(strictKey, {}))).toEqual([400, 'WORKSPACE_ID_REQUIRED']);
  });
});

describe('rows by their workspace', () => {
  test('a list hides what is not granted, direct access is 403, another organization is 404', async () => {
    const accounts = await startApi({ databaseUrl: api.databaseUrl });
    const mine = await account(accounts.infra, { organizationId, workspaceId: granted });
    const theirs = await account(accounts.infra, { organizationId, workspaceId: other });
    const level = await account(accounts.infra, { organizationId });
    const foreign = await account(accounts.infra, { organizationId: (await organization(accounts.infra)).id });
    const listed = async (key: string) => (await accounts.send('GET', '/v1/accounts', { key })).body.data.map((row: { id: string }) => row.id).toSorted();
    expect(await listed(scoped)).toEqual([mine.id]);
    expect(await listed(whole)).toEqual([mine.id, theirs.id, level.id].toSorted());
    const read = async (key: string, id: string) => (await accounts.send('GET', `/v1/accounts/${id}`, { key })).body.error?.code ?? 'shown';
    expect(await Promise.all([mine, theirs, level, foreign].map((row) => read(scoped, row.id)))).toEqual(['shown', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_ACCESS_DENIED', 'ACCOUNT_NOT_FOUND']);
    expect(await Promise.all([mine, theirs, level, foreign].map((row) => read(whole, row.id)))).toEqual(['shown', 'shown', 'shown', 'ACCOUNT_NOT_FOUND']);
    await accounts.close();
  });
});
