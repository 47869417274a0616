import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventEntity } from '../../../infra/db/entities/event.entity.ts';
import { PostTagEntity } from '../../../infra/db/entities/tag.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account } from '../../support/factories.ts';
import { codeOf, openLibrary, type Library } from './world.ts';

let library: Library;
let accountId: string;
beforeAll(async () => {
  library = await openLibrary();
  accountId = (await account(library.api.infra, { organizationId: library.org.id, workspaceId: library.mine })).id;
});
afterAll(() => library.close());

let count = 0;
const draft = () => library.made('/v1/posts', { targets: [accountId], scheduled_at: 'draft', content: `Hello ${count += 1}` });
const tag = (body: Record<string, unknown> = {}) => library.made('/v1/tags', { name: `tag ${count += 1}`, color: '#000000', ...body });
const put = (post: string, id: string, who?: keyof Library['keys']) => library.send('PUT', `/v1/posts/${post}/tags/${id}`, undefined, who);
const take = (post: string, id: string, who?: keyof Library['keys']) => library.send('DELETE', `/v1/posts/${post}/tags/${id}`, undefined, who);
const tagsOf = async (post: string) => (await library.send('GET', `/v1/posts/${post}/tags`)).body;
const postOf = async (id: string) => (await library.send('GET', `/v1/posts/${id}`)).body;
const events = (id: string) => inScope(library.api.infra.db, SYSTEM, (tx) => tx.find(EventEntity, { subjectId: id, event: 'post.updated' }));

describe('/v1/posts/{id}/tags', () => {
  test('gives and takes tags, in order of name; doing it again changes nothing', async () => {
    const post = await draft();
    const [b, a] = [await tag({ name: 'b of it' }), await tag({ name: 'A of it', workspace_id: library.mine })];
    expect(await tagsOf(post.id)).toEqual({ data: [], next_cursor: null, has_more: false });
    expect((await put(post.id, b.id)).body).toEqual({ data: [b], next_cursor: null, has_more: false });
    expect((await put(post.id, a.id)).body.data).toEqual([a, b]);
    const tagged = await postOf(post.id);
    expect([tagged.revision, tagged.updated_at > post.updated_at]).toEqual([post.revision, true]);
    const again = await put(post.id, a.id);
    expect([again.status, again.body.data]).toEqual([200, [a, b]]);
    expect(await postOf(post.id)).toEqual(tagged);
    expect((await take(post.id, b.id)).status).toBe(204);
    expect((await take(post.id, b.id)).status).toBe(204);
    expect((await tagsOf(post.id)).data).toEqual([a]);
    expect((await events(post.id)).map((one) => one.data.changed)).toEqual([['tag_ids'], ['tag_ids'], ['tag_ids']]);
  });

  test('a tag that is deleted is gone from its posts, one that is renamed has its new name there', async () => {
    const post = await draft();
    const [gone, kept] = [await tag(), await tag()];
    await put(post.id, gone.id);
    await put(post.id, kept.id);
    await library.send('PATCH', `/v1/tags/${kept.id}`, { name: 'another name' });
    await library.send('DELETE', `/v1/tags/${gone.id}`);
    expect((await tagsOf(post.id)).data.map((one: any) => one.name)).toEqual(['another name']);
  });

  test('404 TAG_NOT_FOUND and POST_NOT_FOUND, 403 for a tag of a workspace that was not granted', async () => {
    const post = await draft();
    const { id } = await tag({ workspace_id: library.other });
    for (const act of [put, take]) {
      expect(codeOf(await act(post.id, `tag_${'0'.repeat(32)}`))).toEqual([404, 'TAG_NOT_FOUND']);
      expect(codeOf(await act(post.id, 'nonsense'))).toEqual([404, 'TAG_NOT_FOUND']);
      expect(codeOf(await act(`post_${'0'.repeat(32)}`, id))).toEqual([404, 'POST_NOT_FOUND']);
      expect(codeOf(await act(post.id, id, 'scoped'))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    }
    const everyones = await tag();
    expect((await put(post.id, everyones.id, 'scoped')).status).toBe(200);
    const foreign = await library.made('/v1/tags', { name: 'theirs', color: '#000000' }, 'foreign');
    expect(codeOf(await put(post.id, foreign.id))).toEqual([404, 'TAG_NOT_FOUND']);
  });

  test('409 LIMIT_REACHED at 20 tags, for all who ask at once', async () => {
    const post = await draft();
    const tags = await Promise.all(Array.from({ length: 22 }, () => tag()));
    for (const { id } of tags.slice(0, 18)) await put(post.id, id);
    const answers = await Promise.all(tags.slice(18).map(({ id }) => put(post.id, id)));
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, 200, 409, 409]);
    expect(answers.find((one) => one.status === 409)!.body.error).toMatchObject({ code: 'LIMIT_REACHED', details: { limit: 20 } });
    expect((await tagsOf(post.id)).data).toHaveLength(20);
  });

  test('a tag that is deleted while posts are given it leaves nothing behind', async () => {
    const posts = await Promise.all([1, 2, 3, 4].map(() => draft()));
    const { id } = await tag();
    const answers = await Promise.all([...posts.slice(0, 2).map((post) => put(post.id, id)), library.send('DELETE', `/v1/tags/${id}`), ...posts.slice(2).map((post) => put(post.id, id))]);
    expect(answers.every((one) => [200, 204, 404].includes(one.status))).toBe(true);
    expect(await inScope(library.api.infra.db, SYSTEM, (tx) => tx.count(PostTagEntity, { tagId: id }))).toBe(0);
  });
});
