import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../infra/contract/ids.ts';
import { SignatureEntity } from '../../../infra/db/entities/signature.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { apiKey, organization } from '../../support/factories.ts';
import { codeOf, issuesOf, openLibrary, walk, type Library } from './world.ts';

let library: Library;
beforeAll(async () => {
  library = await openLibrary();
});
afterAll(() => library.close());

const PATH = '/v1/signatures';
const made = (body: Record<string, unknown> = {}, who?: keyof Library['keys']) => library.made(PATH, { name: 'Team', content: '-- the team', ...body }, who);
const read = async (id: string) => (await library.send('GET', `${PATH}/${id}`)).body;
const defaults = async (workspace: string | null) => (await walk(library, PATH, 50)).filter((one) => one.is_default && (one.workspace_id ?? null) === workspace).map((one) => one.id);

describe('POST /v1/signatures', () => {
  test('201 with its place; the organization has no workspace_id, a workspace has', async () => {
    const answer = await library.send('POST', PATH, { name: '  Team ', content: '\n\n  -- the team\r\nBerlin \n \n' });
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `${PATH}/${answer.body.id}`]);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^sig_[0-9a-f]{32}$/), name: 'Team', content: '  -- the team\nBerlin ', position: 'append', is_default: false, revision: 1,
      created_at: expect.any(String), updated_at: answer.body.created_at,
    });
    expect(await read(answer.body.id)).toEqual(answer.body);
    expect((await made({ workspace_id: library.mine, position: 'prepend' }))).toMatchObject({ workspace_id: library.mine, position: 'prepend' });
  });

  test('422 names every field that is not valid', async () => {
    const wrong = await library.send('POST', PATH, { name: ' ', content: '\n \n', position: 'middle', is_default: 'yes', contents: 'x' });
    expect([wrong.status, issuesOf(wrong)]).toEqual([422, ['invalid_type is_default', 'invalid_value position', 'too_small content', 'too_small name', 'unrecognized_keys contents']]);
    const long = await library.send('POST', PATH, { name: 'n'.repeat(201), content: 'c'.repeat(2_001) });
    expect(issuesOf(long)).toEqual(['too_big content', 'too_big name']);
    expect(issuesOf(await library.send('POST', PATH, {}))).toEqual(['required content', 'required name']);
    expect((await library.send('POST', PATH, { name: `${'😀'.repeat(200)}  `, content: '😀'.repeat(2_000) })).status).toBe(201);
  });

  test('the workspace follows from the key, and the organization takes a key for all of it', async () => {
    expect((await made({}, 'scoped')).workspace_id).toBe(library.mine);
    const body = { name: 'a', content: 'b' };
    expect(codeOf(await library.send('POST', PATH, { ...body, workspace_id: null }, 'scoped'))).toEqual([403, 'FORBIDDEN']);
    expect(codeOf(await library.send('POST', PATH, body, 'several'))).toEqual([400, 'WORKSPACE_ID_REQUIRED']);
    expect(codeOf(await library.send('POST', PATH, body, 'strict'))).toEqual([400, 'WORKSPACE_ID_REQUIRED']);
    expect(codeOf(await library.send('POST', PATH, { ...body, workspace_id: library.other }, 'scoped'))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await library.send('POST', PATH, { ...body, workspace_id: library.archived }))).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
    expect(codeOf(await library.send('POST', PATH, { ...body, workspace_id: 'nonsense' }))).toEqual([404, 'NOT_FOUND']);
  });

  test('409 LIMIT_REACHED at 200 of an organization, for all who ask at once', async () => {
    const { infra } = library.api;
    const org = await organization(infra);
    const key = (await apiKey(infra, { organizationId: org.id })).secret;
    const at = new Date();
    const rows = Array.from({ length: 198 }, () => ({ id: newId('signature'), organizationId: org.id, mode: 'test' as const, workspaceId: null, name: 'a', content: 'b', position: 'append' as const, isDefault: false, revision: 1, createdAt: at, updatedAt: at }));
    await inScope(infra.db, SYSTEM, (tx) => tx.insertMany(SignatureEntity, rows));
    const answers = await Promise.all(Array.from({ length: 6 }, () => library.api.send('POST', PATH, { key, body: { name: 'a', content: 'b' } })));
    expect(answers.map((one) => one.status).toSorted()).toEqual([201, 201, 409, 409, 409, 409]);
    expect(answers.find((one) => one.status === 409)!.body.error).toMatchObject({ code: 'LIMIT_REACHED', details: { resource: 'signature', limit: 200 } });
    const live = (await apiKey(infra, { organizationId: org.id, mode: 'live' })).secret;
    expect((await library.api.send('POST', PATH, { key: live, body: { name: 'a', content: 'b' } })).status).toBe(201);
  });
});

describe('PATCH /v1/signatures/{id}', () => {
  test('changes what is given, and moves the revision and the time only then', async () => {
    const before = await made({ name: 'Before' });
    const same = await library.send('PATCH', `${PATH}/${before.id}`, { name: ' Before ', content: before.content, position: 'append', is_default: false, expected_revision: 1 });
    expect(same.body).toEqual(before);
    expect((await library.send('PATCH', `${PATH}/${before.id}`, {})).body).toEqual(before);
    const after = (await library.send('PATCH', `${PATH}/${before.id}`, { name: 'After', expected_revision: 1 })).body;
    expect(after).toEqual({ ...before, name: 'After', revision: 2, updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
  });

  test('409 REVISION_CONFLICT with the revision that is there', async () => {
    const { id } = await made();
    await library.send('PATCH', `${PATH}/${id}`, { name: 'Second' });
    const stale = await library.send('PATCH', `${PATH}/${id}`, { name: 'Third', expected_revision: 1 });
    expect([codeOf(stale), stale.body.error.details, stale.headers.get('x-should-retry')]).toEqual([[409, 'REVISION_CONFLICT'], { current_revision: 2 }, 'false']);
    expect((await read(id)).name).toBe('Second');
  });

  test('of changes that all saw one revision, one is taken', async () => {
    const { id } = await made();
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => library.send('PATCH', `${PATH}/${id}`, { name, expected_revision: 1 })));
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, 409, 409, 409]);
    expect((await read(id)).revision).toBe(2);
  });

  test('422 for null, for its own read-only members, and for its workspace', async () => {
    const { id } = await made();
    const answer = await library.send('PATCH', `${PATH}/${id}`, { name: null, content: '  ', revision: 3, workspace_id: library.mine, updated_at: 'x', expected_revision: 0 });
    expect(issuesOf(answer)).toEqual(['invalid_type name', 'too_small content', 'too_small expected_revision', 'unrecognized_keys revision', 'unrecognized_keys updated_at', 'unrecognized_keys workspace_id']);
  });
});

describe('the default', () => {
  test('one of a scope: the other one gives it up with its revision', async () => {
    const first = await made({ is_default: true, workspace_id: library.other });
    const organizations = await made({ is_default: true });
    const second = await made({ is_default: true, workspace_id: library.other });
    expect(await read(first.id)).toMatchObject({ is_default: false, revision: 2 });
    expect(await read(organizations.id)).toMatchObject({ is_default: true, revision: 1 });
    const again = await library.send('POST', `${PATH}/${first.id}/set-default`);
    expect([again.status, again.body]).toMatchObject([200, { is_default: true, revision: 3 }]);
    expect((await library.send('POST', `${PATH}/${first.id}/set-default`, {})).body).toEqual(again.body);
    expect(await read(second.id)).toMatchObject({ is_default: false, revision: 2 });
    await library.send('PATCH', `${PATH}/${second.id}`, { is_default: true });
    expect(await defaults(library.other)).toEqual([second.id]);
    const unset = (await library.send('POST', `${PATH}/${second.id}/unset-default`)).body;
    expect(unset.is_default).toBe(false);
    expect((await library.send('POST', `${PATH}/${second.id}/unset-default`)).body).toEqual(unset);
    expect(await defaults(library.other)).toEqual([]);
  });

  test('two keys that make defaults at the same time leave one', async () => {
    const second = (await apiKey(library.api.infra, { organizationId: library.org.id })).secret;
    const rows = await Promise.all([1, 2, 3, 4].map(() => made()));
    const keys = [library.keys.whole, second];
    const calls = rows.flatMap(({ id }, at) => [
      library.api.send('POST', `${PATH}/${id}/set-default`, { key: keys[at % 2]! }),
      library.api.send('PATCH', `${PATH}/${id}`, { key: keys[(at + 1) % 2]!, body: { is_default: true, name: `n${at}` } }),
      library.api.send('POST', PATH, { key: keys[at % 2]!, body: { name: 'new', content: 'c', is_default: true } }),
    ]);
    expect(new Set((await Promise.all(calls)).map((answer) => answer.status))).toEqual(new Set([200, 201]));
    expect(await defaults(null)).toHaveLength(1);
  });

  test('GET /v1/signatures/default: the workspace\'s, else the organization\'s, else 404', async () => {
    const shown = (who: keyof Library['keys'], query = '') => library.send('GET', `${PATH}/default${query}`, undefined, who);
    for (const scope of [null, library.mine]) for (const id of await defaults(scope)) await library.send('DELETE', `${PATH}/${id}`);
    expect(codeOf(await shown('whole', `?workspace_id=${library.mine}`))).toEqual([404, 'NOT_FOUND']);
    const organizations = await made({ is_default: true });
    expect((await shown('scoped', `?workspace_id=${library.mine}`)).body).toEqual(organizations);
    const own = await made({ is_default: true, workspace_id: library.mine });
    expect((await shown('scoped', `?workspace_id=${library.mine}`)).body).toEqual(own);
    expect([(await shown('scoped')).body, (await shown('whole')).body, (await shown('several')).body]).toEqual([own, organizations, organizations]);
    expect((await shown('whole', `?workspace_id=${library.other}`)).body).toEqual(organizations);
    await library.send('DELETE', `${PATH}/${own.id}`);
    expect((await shown('whole', `?workspace_id=${library.mine}`)).body).toEqual(organizations);
    expect(codeOf(await shown('scoped', `?workspace_id=${library.other}`))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await shown('foreign'))).toEqual([404, 'NOT_FOUND']);
  });
});

describe('who sees and changes what', () => {
  test('the organization\'s are read by every scope and changed by a key for all of it', async () => {
    const { id } = await made();
    expect((await library.send('GET', `${PATH}/${id}`, undefined, 'scoped')).status).toBe(200);
    for (const [method, path] of [['PATCH', ''], ['DELETE', ''], ['POST', '/set-default'], ['POST', '/unset-default']] as const) {
      const answer = await library.send(method, `${PATH}/${id}${path}`, {}, 'scoped');
      expect([codeOf(answer), answer.body.error.details.reason]).toEqual([[403, 'FORBIDDEN'], 'scope_all_required']);
    }
  });

  test('those of an archived workspace can be read only', async () => {
    const at = new Date();
    const id = newId('signature');
    await inScope(library.api.infra.db, SYSTEM, (tx) => tx.insert(SignatureEntity, { id, organizationId: library.org.id, mode: 'test', workspaceId: library.archived, name: 'a', content: 'b', position: 'append', isDefault: false, revision: 1, createdAt: at, updatedAt: at }));
    expect((await library.send('GET', `${PATH}/${id}`)).status).toBe(200);
    expect(codeOf(await library.send('PATCH', `${PATH}/${id}`, { name: 'c' }))).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
    expect(codeOf(await library.send('DELETE', `${PATH}/${id}`))).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
  });

  test('DELETE is 204 once, then 404; malformed ids are unknown', async () => {
    const { id } = await made();
    expect((await library.send('DELETE', `${PATH}/${id}`)).status).toBe(204);
    for (const path of [id, 'sig_x', `tag_${id.slice(4)}`]) expect(codeOf(await library.send('GET', `${PATH}/${path}`))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await library.send('DELETE', `${PATH}/${id}`))).toEqual([404, 'NOT_FOUND']);
  });

  test('lists: newest first in pages of any size, by workspace with and without the organization, nothing of another mode', async () => {
    const all = await walk(library, PATH, 100);
    expect(await walk(library, PATH, 3)).toEqual(all);
    expect(all).toEqual(all.toSorted((a, b) => b.created_at.localeCompare(a.created_at) || (b.id < a.id ? -1 : 1)));
    const within = (rows: any[], ...scopes: (string | undefined)[]) => rows.filter((one) => scopes.includes(one.workspace_id));
    expect(await walk(library, `${PATH}?workspace_id=${library.mine}`, 4)).toEqual(within(all, library.mine, undefined));
    expect(await walk(library, `${PATH}?workspace_id=${library.mine}&exact=true`, 2)).toEqual(within(all, library.mine));
    expect(await walk(library, PATH, 5, 'scoped')).toEqual(within(all, library.mine, undefined));
    expect(await walk(library, PATH, 5, 'live')).toEqual([]);
    expect(codeOf(await library.send('GET', `${PATH}?workspace_id=${library.other}`, undefined, 'scoped'))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    const { next_cursor: cursor } = (await library.send('GET', `${PATH}?limit=1`)).body;
    expect(codeOf(await library.send('GET', `${PATH}?limit=1&exact=true&cursor=${cursor}`))).toEqual([400, 'INVALID_CURSOR']);
  });

  test('a creation with a key happens once', async () => {
    const send = () => library.api.send('POST', PATH, { key: library.keys.whole, headers: { 'Idempotency-Key': 'signature-once' }, body: { name: 'once', content: 'c' } });
    const [first, second] = [await send(), await send()];
    expect([second.text, second.headers.get('idempotency-replayed'), second.headers.get('location')]).toEqual([first.text, 'true', first.headers.get('location')]);
    expect((await walk(library, PATH, 100)).filter((one) => one.name === 'once')).toHaveLength(1);
  });
});
