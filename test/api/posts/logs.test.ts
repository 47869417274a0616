import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PostEntity } from '../../../infra/db/entities/post.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { carriedOut, codeOf, inSeconds, openWorld, targetOf, type World } from './world.ts';

let world: World;
let published: any;
let failed: any;
let scheduled: any;
let draft: any;

beforeAll(async () => {
  world = await openWorld();
  published = await world.accepted({ targets: [world.mastodon.id], scheduled_at: 'now', content: 'a' });
  failed = await world.accepted({ targets: [world.twitter.id], scheduled_at: 'now', content: 'b' });
  scheduled = await world.accepted({ targets: [world.twitter.id], scheduled_at: inSeconds(600), content: 'c' });
  draft = await world.accepted({ targets: [world.mastodon.id], scheduled_at: 'draft', content: 'd' });
  await carriedOut(world, targetOf(published, world.mastodon.id).operation_id, 'published');
  await carriedOut(world, targetOf(failed, world.twitter.id).operation_id, 'refused');
});
afterAll(() => world.close());

const logs = (query = '', key?: string) => world.send('GET', `/v1/posts/logs${query === '' ? '' : `?${query}`}`, undefined, { key });
const posts = async (query: string) => (await logs(query)).body.data.map((one: any) => one.post_id);

describe('GET /v1/posts/logs', () => {
  test('one row per target, latest change first, drafts left out', async () => {
    const { body } = await logs();
    expect(body.data.map((one: any) => one.post_id)).toEqual([failed.id, published.id, scheduled.id]);
    const target = targetOf(published, world.mastodon.id);
    expect(body.data[1]).toEqual({
      id: target.target_id, post_id: published.id, social_account_id: world.mastodon.id, platform: 'mastodon', status: 'published', platform_post_id: '4711', platform_url: 'https://platform.example/4711',
      error: null, published_at: expect.any(String), updated_at: expect.any(String), error_code: null, operation_id: target.operation_id, attempt: 1, workspace_id: null, deleted: false,
    });
    expect(body.data[0]).toMatchObject({ status: 'failed', error_code: 'PROVIDER_REJECTED', error: expect.stringMatching(/refused/) });
  });

  test.each([
    ['status', () => 'status=published,scheduled', () => [published.id, scheduled.id]],
    ['platform', () => 'platform=mastodon', () => [published.id]],
    ['account_id', () => `account_id=${world.twitter.id}`, () => [failed.id, scheduled.id]],
    ['post_id', () => `post_id=${published.id}`, () => [published.id]],
    ['error_code', () => 'error_code=PROVIDER_REJECTED', () => [failed.id]],
    ['include_drafts', () => 'include_drafts=true&platform=mastodon', () => [published.id, draft.id]],
    ['an unknown id', () => 'post_id=x', () => []],
  ])('filter %s', async (_name, query, expected) => expect(await posts(query())).toEqual(expected()));

  test('from and to are about the last change', async () => {
    const [newest] = (await logs()).body.data;
    expect(await posts(`from=${newest.updated_at}&to=${newest.updated_at}`)).toEqual([newest.post_id]);
    expect(await posts(`from=${inSeconds(60)}`)).toEqual([]);
  });

  test.each(['status=partial', 'platform=x', 'include_drafts=1', 'limit=1000'])('%s is 422', async (query) => expect(codeOf(await logs(query))).toEqual([422, 'VALIDATION_ERROR']));

  test('an unknown workspace is 404; a restricted credential sees its own rows', async () => {
    expect(codeOf(await logs('workspace_id=ws_1'))).toEqual([404, 'NOT_FOUND']);
    const { infra } = world.api;
    const id = (await workspace(infra, { organizationId: world.org.id })).id;
    const inside = await account(infra, { organizationId: world.org.id, platform: 'mastodon', workspaceId: id });
    const post = await world.accepted({ targets: [inside.id], scheduled_at: inSeconds(600), content: 'x' });
    const key = (await apiKey(infra, { organizationId: world.org.id, workspaceScope: [id] })).secret;
    expect((await logs('', key)).body.data.map((one: any) => [one.post_id, one.workspace_id])).toEqual([[post.id, id]]);
    const other = targetOf(published, world.mastodon.id).target_id;
    expect(codeOf(await world.send('GET', `/v1/posts/logs/${other}`, undefined, { key }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
  });
});

describe('the log of one post or target', () => {
  test('reads one row; an unknown or malformed target id is 404 NOT_FOUND', async () => {
    const { target_id } = targetOf(draft, world.mastodon.id);
    expect((await world.send('GET', `/v1/posts/logs/${target_id}`)).body).toMatchObject({ id: target_id, status: 'draft', attempt: 0, operation_id: null });
    for (const id of ['x', 'pt_1', `pt_${'0'.repeat(32)}`, draft.id]) expect(codeOf(await world.send('GET', `/v1/posts/logs/${id}`))).toEqual([404, 'NOT_FOUND']);
  });

  test('stays readable for 90 days when the post is deleted, then nothing of it is shown', async () => {
    const post = await world.accepted({ targets: [world.mastodon.id], scheduled_at: inSeconds(600), content: 'x' });
    const { target_id } = targetOf(post, world.mastodon.id);
    await world.send('DELETE', `/v1/posts/${post.id}`);
    const deleted = (days: number) => inScope(world.api.infra.db, SYSTEM, (tx) => tx.nativeUpdate(PostEntity, { id: post.id }, { deletedAt: new Date(Date.now() - days * 86_400_000) }));
    const seen = async () => [
      (await world.send('GET', `/v1/posts/${post.id}/logs`)).status, (await world.send('GET', `/v1/posts/logs/${target_id}`)).status, (await logs(`post_id=${post.id}`)).body.data.length,
    ];
    await deleted(89.9);
    expect(await seen()).toEqual([200, 200, 1]);
    await deleted(90.1);
    expect(await seen()).toEqual([404, 404, 0]);
    expect(codeOf(await world.send('GET', `/v1/posts/${post.id}/logs`))).toEqual([404, 'POST_NOT_FOUND']);
    expect(codeOf(await world.send('GET', `/v1/posts/logs/${target_id}`))).toEqual([404, 'NOT_FOUND']);
  });

  test('stays readable when the post is deleted', async () => {
    const post = await world.accepted({ targets: ['mastodon', 'twitter'], scheduled_at: inSeconds(600), content: 'x' });
    const rows = async () => (await world.send('GET', `/v1/posts/${post.id}/logs`)).body.data.map((one: any) => [one.platform, one.deleted]).toSorted();
    expect(await rows()).toEqual(expect.arrayContaining([['mastodon', false], ['twitter', false]]));
    await world.send('DELETE', `/v1/posts/${post.id}`);
    expect((await rows()).every(([, deleted]: [string, boolean]) => deleted)).toBe(true);
    expect((await logs(`post_id=${post.id}`)).body.data).not.toEqual([]);
    expect(codeOf(await world.send('GET', `/v1/posts/post_${'0'.repeat(32)}/logs`))).toEqual([404, 'POST_NOT_FOUND']);
  });
});

describe('GET /v1/posts/logs › pages', () => {
  test('a row that changes while paging is not lost, and shows once', async () => {
    const { infra } = world.api;
    const org = (await organization(infra)).id;
    const key = (await apiKey(infra, { organizationId: org })).secret;
    const { id: accountId } = await account(infra, { organizationId: org, platform: 'mastodon' });
    const made: any[] = [];
    for (let at = 0; at < 8; at += 1) made.unshift((await world.post({ targets: ['mastodon'], scheduled_at: 'now', content: `p${at}` }, { key })).body);
    const operation = (at: number) => targetOf(made[at], accountId).operation_id;
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page += 1) {
      const { body }: { body: any } = await logs(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`, key);
      seen.push(...body.data.map((one: any) => one.post_id));
      cursor = body.next_cursor;
      // One that was shown, the next one to come, and one of a later page change; a new one comes.
      if (page === 0) for (const at of [0, 2, 5]) await carriedOut(world, operation(at), 'published');
      if (page === 1) await world.post({ targets: ['mastodon'], scheduled_at: 'now', content: 'new' }, { key });
    }
    expect(seen).toEqual(made.map((post) => post.id));
    const [newest] = (await logs('limit=1', key)).body.data;
    expect(seen).not.toContain(newest.post_id);
  });
});
