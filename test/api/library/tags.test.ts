import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../infra/contract/ids.ts';
import { TagEntity } from '../../../infra/db/entities/tag.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { apiKey, organization } from '../../support/factories.ts';
import { codeOf, issuesOf, openLibrary, walk, type Library } from './world.ts';

let library: Library;
beforeAll(async () => {
  library = await openLibrary();
});
afterAll(() => library.close());

const PATH = '/v1/tags';
let count = 0;
const made = (body: Record<string, unknown> = {}, who?: keyof Library['keys']) => library.made(PATH, { name: `tag ${count += 1}`, color: '#aabbcc', ...body }, who);
const send = (method: string, path: string, body?: unknown, who?: keyof Library['keys']) => library.send(method, `${PATH}${path}`, body, who);

describe('POST /v1/tags', () => {
  test('201 with its place, the name trimmed and the color in upper case', async () => {
    const answer = await send('POST', '', { name: ' Élan \t', color: '#00ff7f' });
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `${PATH}/${answer.body.id}`]);
    expect(answer.body).toEqual({ id: expect.stringMatching(/^tag_[0-9a-f]{32}$/), name: 'Élan', color: '#00FF7F', workspace_id: null, created_at: expect.any(String), updated_at: answer.body.created_at });
    expect((await send('GET', `/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test('422 names every field that is not valid', async () => {
    expect(issuesOf(await send('POST', '', { name: ' ', color: 'red', colour: '#000000' }))).toEqual(['invalid_string color', 'too_small name', 'unrecognized_keys colour']);
    expect((await send('POST', '', { name: 'n', color: 'red' })).body.error.details.issues[0].message).toBe('color must be a color such as #1A2B3C');
    expect(issuesOf(await send('POST', '', {}))).toEqual(['required color', 'required name']);
    expect(issuesOf(await send('POST', '', { name: 'n'.repeat(101), color: '#12345G' }))).toEqual(['invalid_string color', 'too_big name']);
  });

  test('409 TAG_NAME_TAKEN in whatever case, of the same scope only', async () => {
    await made({ name: 'Grün' });
    expect(codeOf(await send('POST', '', { name: ' gRÜN', color: '#000000' }))).toEqual([409, 'TAG_NAME_TAKEN']);
    const own = await made({ name: 'grün', workspace_id: library.mine });
    expect(own.workspace_id).toBe(library.mine);
    expect(codeOf(await send('POST', '', { name: 'GRÜN', color: '#000000' }, 'scoped'))).toEqual([409, 'TAG_NAME_TAKEN']);
    expect((await made({ name: 'GRÜN', workspace_id: library.other })).name).toBe('GRÜN');
    expect((await send('POST', '', { name: 'grün', color: '#000000' }, 'live')).status).toBe(201);
  });

  test('of equal names that come at once one is taken', async () => {
    const answers = await Promise.all(['race', 'Race', 'RACE', ' race '].map((name) => send('POST', '', { name, color: '#000000' })));
    expect(answers.map((one) => one.body.error?.code ?? one.status).toSorted()).toEqual([201, 'TAG_NAME_TAKEN', 'TAG_NAME_TAKEN', 'TAG_NAME_TAKEN']);
  });

  test('409 LIMIT_REACHED at 1,000 of an organization', async () => {
    const { infra } = library.api;
    const org = await organization(infra);
    const key = (await apiKey(infra, { organizationId: org.id })).secret;
    const at = new Date();
    const rows = Array.from({ length: 999 }, (_, index) => ({ id: newId('tag'), organizationId: org.id, mode: 'test' as const, workspaceId: null, name: `t${index}`, color: '#000000', createdAt: at, updatedAt: at }));
    await inScope(infra.db, SYSTEM, (tx) => tx.insertMany(TagEntity, rows));
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => library.api.send('POST', PATH, { key, body: { name, color: '#000000' } })));
    expect(answers.map((one) => one.status).toSorted()).toEqual([201, 409, 409]);
    expect(answers.find((one) => one.status === 409)!.body.error).toMatchObject({ code: 'LIMIT_REACHED', details: { resource: 'tag', limit: 1_000 } });
  });
});

describe('PATCH and DELETE /v1/tags/{id}', () => {
  test('changes what is given; its own name in another case is free for it', async () => {
    const before = await made({ name: 'first name' });
    expect((await send('PATCH', `/${before.id}`, { name: 'first name', color: '#aaBBcc' })).body).toEqual(before);
    const after = (await send('PATCH', `/${before.id}`, { name: 'First Name' })).body;
    expect(after).toEqual({ ...before, name: 'First Name', updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    await made({ name: 'second name' });
    expect(codeOf(await send('PATCH', `/${before.id}`, { name: 'SECOND name' }))).toEqual([409, 'TAG_NAME_TAKEN']);
    expect(issuesOf(await send('PATCH', `/${before.id}`, { name: null, color: '#fff', workspace_id: null, expected_revision: 1 })))
      .toEqual(['invalid_string color', 'invalid_type name', 'unrecognized_keys expected_revision', 'unrecognized_keys workspace_id']);
  });

  test('the organization\'s are read by every scope and changed by a key for all of it', async () => {
    const { id } = await made();
    expect((await send('GET', `/${id}`, undefined, 'scoped')).status).toBe(200);
    for (const method of ['PATCH', 'DELETE']) expect(codeOf(await send(method, `/${id}`, {}, 'scoped'))).toEqual([403, 'FORBIDDEN']);
    expect(codeOf(await send('POST', '', { name: 'x', color: '#000000', workspace_id: null }, 'scoped'))).toEqual([403, 'FORBIDDEN']);
    expect((await send('DELETE', `/${id}`)).status).toBe(204);
    expect(codeOf(await send('DELETE', `/${id}`))).toEqual([404, 'TAG_NOT_FOUND']);
    expect(codeOf(await send('GET', '/nonsense'))).toEqual([404, 'TAG_NOT_FOUND']);
  });
});

describe('GET /v1/tags', () => {
  test('in order of name whatever the case, equal names of two scopes by id, in pages of any size', async () => {
    const org = await organization(library.api.infra);
    const key = (await apiKey(library.api.infra, { organizationId: org.id })).secret;
    const names = ['beta', 'Alpha', 'alphabet', '😀', 'Ähre', 'zeta', '100%', '1_0', 'ALP'];
    for (const name of names) await library.api.send('POST', PATH, { key, body: { name, color: '#000000' } });
    const whole = (await library.api.send('GET', `${PATH}?limit=100`, { key })).body.data.map((one: any) => one.name);
    expect(whole.filter((name: string) => /^[A-Za-z]+$/.test(name))).toEqual(['ALP', 'Alpha', 'alphabet', 'beta', 'zeta']);
    expect(whole.toSorted()).toEqual(names.toSorted());
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await library.api.send('GET', `${PATH}?limit=2&cursor=${cursor}`, { key });
      seen.push(...body.data.map((one: any) => one.name));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(whole);
    const found = async (q: string) => (await library.api.send('GET', `${PATH}?q=${encodeURIComponent(q)}`, { key })).body.data.map((one: any) => one.name);
    expect([await found('alph'), await found('%'), await found('_'), await found('äH'), await found('nothing')]).toEqual([['Alpha', 'alphabet'], ['100%'], ['1_0'], ['Ähre'], []]);
    expect((await library.api.send('GET', `${PATH}?to=2020-01-01T00:00:00Z`, { key })).body.data).toEqual([]);
  });

  test('a position whose tag was deleted still works', async () => {
    const rows = await walk(library, PATH, 100);
    const { next_cursor: cursor, data } = (await send('GET', '?limit=2')).body;
    await send('DELETE', `/${data[1].id}`);
    expect((await send('GET', `?limit=100&cursor=${cursor}`)).body.data).toEqual(rows.slice(2));
  });

  test('workspace_id: that workspace\'s and the organization\'s; a scope sees its own and the organization\'s', async () => {
    await made({ workspace_id: library.other });
    const all = await walk(library, PATH, 100);
    const within = (...scopes: (string | null)[]) => all.filter((one) => scopes.includes(one.workspace_id));
    expect(await walk(library, `${PATH}?workspace_id=${library.mine}`, 3)).toEqual(within(library.mine, null));
    expect(await walk(library, PATH, 3, 'scoped')).toEqual(within(library.mine, null));
    expect(await walk(library, PATH, 3, 'foreign')).toEqual([]);
    expect(codeOf(await send('GET', `?workspace_id=${library.other}`, undefined, 'scoped'))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await send('GET', '?workspace_id=ws_x'))).toEqual([404, 'NOT_FOUND']);
  });
});
