import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../infra/contract/ids.ts';
import { ContentTemplateEntity } from '../../../infra/db/entities/content-template.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { apiKey, organization } from '../../support/factories.ts';
import { codeOf, issuesOf, openLibrary, walk, type Library } from './world.ts';

let library: Library;
beforeAll(async () => {
  library = await openLibrary();
});
afterAll(() => library.close());

const PATH = '/v1/content-templates';
const made = (body: Record<string, unknown> = {}, who?: keyof Library['keys']) => library.made(PATH, { name: 'Launch', content: 'Hello', ...body }, who);
const send = (method: string, path: string, body?: unknown, who?: keyof Library['keys']) => library.send(method, `${PATH}${path}`, body, who);

describe('POST /v1/content-templates', () => {
  test('201 with its place, the names of its variables, and its tags without doubles', async () => {
    const answer = await send('POST', '', {
      name: ' Launch ', description: 'Of a product', content: 'Meet {{product}}\r\nby {{ account_name }} \\{{literal}}', platform_overrides: { mastodon: '{{product}} #{{tag}}', twitter: 'X' },
      tags: ['News', 'b', 'news', 'NEWS', 'B'],
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `${PATH}/${answer.body.id}`]);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^tmpl_[0-9a-f]{32}$/), name: ' Launch ', description: 'Of a product', content: 'Meet {{product}}\nby {{ account_name }} \\{{literal}}',
      platform_overrides: { mastodon: '{{product}} #{{tag}}', twitter: 'X' }, tags: ['News', 'b'], variables: ['product', 'account_name', 'tag'], workspace_id: null, revision: 1,
      created_at: expect.any(String), updated_at: answer.body.created_at,
    });
    expect((await send('GET', `/${answer.body.id}`)).body).toEqual(answer.body);
    expect(await made()).toMatchObject({ description: null, platform_overrides: null, tags: [], variables: [] });
    expect(await made({ description: null, platform_overrides: null, workspace_id: null })).toMatchObject({ description: null, platform_overrides: null, workspace_id: null });
  });

  test('422 names every field that is not valid', async () => {
    const wrong = await send('POST', '', { name: '', content: '', description: 1, platform_overrides: { myspace: 'a', twitter: '' }, tags: ['', 3], variables: [], tag: 'x' });
    expect(issuesOf(wrong)).toEqual([
      'invalid_type description', 'invalid_type tags.1', 'too_small content', 'too_small name', 'too_small platform_overrides.twitter', 'too_small tags.0',
      'unrecognized_keys platform_overrides.myspace', 'unrecognized_keys tag', 'unrecognized_keys variables',
    ]);
    const long = { name: 'n'.repeat(201), content: 'c'.repeat(10_001), description: 'd'.repeat(1_001), platform_overrides: { sms: 'c'.repeat(10_001) }, tags: ['t'.repeat(51), ...Array.from({ length: 20 }, (_, at) => `t${at}`)] };
    expect(issuesOf(await send('POST', '', long))).toEqual(['too_big content', 'too_big description', 'too_big name', 'too_big platform_overrides.sms', 'too_big tags', 'too_big tags.0']);
    const full = { name: 'n'.repeat(200), content: '😀'.repeat(10_000), description: 'd'.repeat(1_000), platform_overrides: { sms: 'c'.repeat(10_000) }, tags: Array.from({ length: 20 }, (_, at) => `${at}`.padEnd(50, 't')) };
    expect((await send('POST', '', full)).body).toMatchObject(full);
  });

  test('the workspace follows from the key, and the organization takes a key for all of it', async () => {
    expect((await made({}, 'scoped')).workspace_id).toBe(library.mine);
    const body = { name: 'a', content: 'b' };
    expect(codeOf(await send('POST', '', { ...body, workspace_id: null }, 'scoped'))).toEqual([403, 'FORBIDDEN']);
    expect(codeOf(await send('POST', '', body, 'several'))).toEqual([400, 'WORKSPACE_ID_REQUIRED']);
    expect(codeOf(await send('POST', '', { ...body, workspace_id: null }, 'strict'))).toEqual([400, 'WORKSPACE_ID_REQUIRED']);
    expect(codeOf(await send('POST', '', { ...body, workspace_id: library.archived }))).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
  });

  test('409 LIMIT_REACHED at 1,000 of an organization', async () => {
    const { infra } = library.api;
    const org = await organization(infra);
    const key = (await apiKey(infra, { organizationId: org.id })).secret;
    const at = new Date();
    const rows = Array.from({ length: 999 }, () => ({ id: newId('template'), organizationId: org.id, mode: 'test' as const, workspaceId: null, name: 'a', description: null, content: 'b', platformOverrides: null, tags: [], revision: 1, createdAt: at, updatedAt: at }));
    await inScope(infra.db, SYSTEM, (tx) => tx.insertMany(ContentTemplateEntity, rows));
    const answers = await Promise.all([1, 2, 3].map(() => library.api.send('POST', PATH, { key, body: { name: 'a', content: 'b' } })));
    expect(answers.map((one) => one.status).toSorted()).toEqual([201, 409, 409]);
    expect(answers.find((one) => one.status === 409)!.body.error).toMatchObject({ code: 'LIMIT_REACHED', details: { resource: 'template', limit: 1_000 } });
  });
});

describe('PATCH and DELETE /v1/content-templates/{id}', () => {
  test('changes what is given, and moves the revision and the time only then', async () => {
    const before = await made({ description: 'd', platform_overrides: { twitter: 'a', sms: 'b' }, tags: ['One'] });
    const same = { name: before.name, description: 'd', content: before.content, platform_overrides: { sms: 'b', twitter: 'a' }, tags: ['One', 'one'], expected_revision: 1 };
    expect((await send('PATCH', `/${before.id}`, same)).body).toEqual(before);
    expect((await send('PATCH', `/${before.id}`, {})).body).toEqual(before);
    const after = (await send('PATCH', `/${before.id}`, { description: null, platform_overrides: null, tags: ['one'], content: '{{x}}' })).body;
    expect(after).toEqual({ ...before, description: null, platform_overrides: null, tags: ['one'], content: '{{x}}', variables: ['x'], revision: 2, updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    const stale = await send('PATCH', `/${before.id}`, { name: 'b', expected_revision: 1 });
    expect([codeOf(stale), stale.body.error.details]).toEqual([[409, 'REVISION_CONFLICT'], { current_revision: 2 }]);
    expect(issuesOf(await send('PATCH', `/${before.id}`, { name: null, content: null, tags: null, workspace_id: null, variables: [] })))
      .toEqual(['invalid_type content', 'invalid_type name', 'invalid_type tags', 'unrecognized_keys variables', 'unrecognized_keys workspace_id']);
  });

  test('of changes that all saw one revision, one is taken', async () => {
    const { id } = await made();
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => send('PATCH', `/${id}`, { name, expected_revision: 1 })));
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  test('the organization\'s are read by every scope and changed by a key for all of it', async () => {
    const { id } = await made();
    expect((await send('GET', `/${id}`, undefined, 'scoped')).status).toBe(200);
    for (const method of ['PATCH', 'DELETE']) expect(codeOf(await send(method, `/${id}`, {}, 'scoped'))).toEqual([403, 'FORBIDDEN']);
    expect((await send('DELETE', `/${id}`)).status).toBe(204);
    for (const path of [id, 'nonsense']) expect(codeOf(await send('GET', `/${path}`))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    expect(codeOf(await send('DELETE', `/${id}`))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
  });
});

describe('GET /v1/content-templates', () => {
  test('newest first, by workspace, tag and words, in pages of any size', async () => {
    await made({ name: 'Sale 50%', content: 'Buy NOW', tags: ['Promo', 'x'] });
    await made({ name: 'other', content: 'a sale of b', tags: ['promotion'], workspace_id: library.other });
    await made({ name: 'mine', tags: ['PROMO'], workspace_id: library.mine });
    const all = await walk(library, PATH, 100);
    expect(await walk(library, PATH, 2)).toEqual(all);
    expect(all.map((one) => one.id)).toEqual(all.map((one) => one.id).toSorted().toReversed());
    const within = (...scopes: (string | null)[]) => all.filter((one) => scopes.includes(one.workspace_id));
    expect(await walk(library, `${PATH}?workspace_id=${library.mine}`, 3)).toEqual(within(library.mine, null));
    expect(await walk(library, PATH, 3, 'scoped')).toEqual(within(library.mine, null));
    const names = async (query: string) => (await walk(library, `${PATH}?${query}`, 1)).map((one) => one.name);
    expect(await names('tag=promo')).toEqual(['mine', 'Sale 50%']);
    expect(await names('q=SALE')).toEqual(['other', 'Sale 50%']);
    expect(await names('q=50%25')).toEqual(['Sale 50%']);
    expect(await names('q=b%25y')).toEqual([]);
    expect(await walk(library, PATH, 3, 'live')).toEqual([]);
    expect(codeOf(await send('GET', `?workspace_id=${library.other}`, undefined, 'scoped'))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    const { next_cursor: cursor } = (await send('GET', '?limit=1&q=a')).body;
    expect(codeOf(await send('GET', `?limit=1&q=b&cursor=${cursor}`))).toEqual([400, 'INVALID_CURSOR']);
  });
});
