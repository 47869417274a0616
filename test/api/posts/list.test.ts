import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../infra/contract/ids.ts';
import { PostEntity } from '../../../infra/db/entities/post.entity.ts';
import { PostTagEntity, TagEntity } from '../../../infra/db/entities/tag.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { carriedOut, codeOf, inSeconds, openWorld, targetOf, type World } from './world.ts';

let world: World;
let brand: string;
let shop: string;
let brandAccount: string;
const made: Record<'published' | 'partial' | 'publishing' | 'scheduled' | 'draft' | 'inBrand' | 'shared', any> = {} as never;

beforeAll(async () => {
  world = await openWorld();
  const { infra } = world.api;
  brand = (await workspace(infra, { organizationId: world.org.id })).id;
  shop = (await workspace(infra, { organizationId: world.org.id })).id;
  const ofBrand = await account(infra, { organizationId: world.org.id, platform: 'mastodon', workspaceId: brand });
  brandAccount = ofBrand.id;
  const ofShop = await account(infra, { organizationId: world.org.id, platform: 'mastodon', workspaceId: shop });
  const both = [world.mastodon.id, world.twitter.id];
  made.published = await world.accepted({ targets: [world.mastodon.id], scheduled_at: 'now', content: 'Alpha 100% _sure_', media: [{ url: 'https://a.example/a.png' }] });
  made.partial = await world.accepted({ targets: both, scheduled_at: 'now', content: 'beta' });
  made.publishing = await world.accepted({ targets: [world.twitter.id], scheduled_at: 'now', content: 'gamma' });
  made.scheduled = await world.accepted({ targets: [world.mastodon.id], scheduled_at: inSeconds(7 * 86_400), content: 'delta', notes: 'about ALPHA' });
  made.draft = await world.accepted({ targets: [world.twitter.id], scheduled_at: 'draft', content: 'epsilon' });
  made.inBrand = await world.accepted({ targets: [brandAccount], scheduled_at: 'draft', content: 'zeta' });
  made.shared = await world.accepted({ targets: [brandAccount, ofShop.id], scheduled_at: 'draft', content: 'eta' });
  await carriedOut(world, targetOf(made.published, world.mastodon.id).operation_id, 'published');
  await carriedOut(world, targetOf(made.partial, world.mastodon.id).operation_id, 'published');
  await carriedOut(world, targetOf(made.partial, world.twitter.id).operation_id, 'refused');
});
afterAll(() => world.close());

const list = (query = '', key?: string) => world.send('GET', `/v1/posts${query === '' ? '' : `?${query}`}`, undefined, { key });
const names = async (query: string, key?: string) => (await list(query, key)).body.data.map((one: any) => Object.keys(made).find((name) => made[name as keyof typeof made].id === one.id)).toSorted();
const sorted = (...some: string[]) => some.toSorted();

describe('GET /v1/posts › filters', () => {
  test.each([
    ['status=draft', sorted('draft', 'inBrand', 'shared')],
    ['status=partial', ['partial']],
    ['status=published,%20partial,', sorted('published', 'partial')],
    ['status=', sorted('published', 'partial', 'publishing', 'scheduled', 'draft', 'inBrand', 'shared')],
    ['platform=twitter', sorted('partial', 'publishing', 'draft')],
    ['platform=twitter,mastodon&status=publishing', ['publishing']],
    ['platform=tiktok', []],
    ['q=alpha', sorted('published', 'scheduled')],
    ['q=100%25', ['published']],
    ['q=_sure_', ['published']],
    ['q=%25', ['published']],
    ['q=%5C', []],
    ['platform_post_id=4711', sorted('published', 'partial')],
    ['platform_post_id=https://platform.example/4711&status=partial', ['partial']],
    ['tag_id=tag_1', []], ['template_id=tmpl_1', []], ['idea_id=x', []], ['recycled_from_id=x', []], ['thread_group_id=x', []],
    ['roots_only=true&status=partial', ['partial']],
    ['include_external=true&status=published', ['published']],
    ['include_external=false&status=draft,partial', sorted('draft', 'inBrand', 'shared', 'partial')],
    ['unheard=of&status=partial', ['partial']],
  ])('%s', async (query, expected) => expect(await names(query)).toEqual(expected));

  test('account_id, account_ids and workspace_id', async () => {
    expect(await names(`account_id=${world.twitter.id}`)).toEqual(sorted('partial', 'publishing', 'draft'));
    expect(await names(`account_id=${world.mastodon.id}&account_ids=${brandAccount}`)).toEqual(sorted('inBrand', 'shared'));
    expect(await names('account_id=acc_nothing')).toEqual([]);
    expect(await names(`workspace_id=${brand}`)).toEqual(sorted('inBrand', 'shared'));
    expect(await names(`workspace_id=${shop}`)).toEqual(['shared']);
  });

  test('tag_id and template_id', async () => {
    const { db } = world.api.infra;
    const [red, blue, template] = [newId('tag'), newId('tag'), newId('template')];
    const of = { organizationId: world.org.id, mode: 'test', createdAt: new Date(), updatedAt: new Date() } as const;
    await inScope(db, SYSTEM, async (tx) => {
      await tx.insertMany(TagEntity, [{ ...of, id: red, name: 'red', color: '#FF0000' }, { ...of, id: blue, name: 'Blue', color: '#0000FF' }]);
      await tx.insertMany(PostTagEntity, [[made.draft, red], [made.partial, red], [made.partial, blue]].map(([post, tagId]) => ({ postId: post.id, tagId, organizationId: world.org.id, mode: 'test' as const, createdAt: new Date() })));
      await tx.nativeUpdate(PostEntity, { id: made.shared.id }, { templateId: template });
    });
    expect(await names(`tag_id=${red}`)).toEqual(sorted('draft', 'partial'));
    expect(await names(`tag_id=${blue}`)).toEqual(['partial']);
    expect(await names(`tag_id=${red}&status=draft`)).toEqual(['draft']);
    expect(await names(`template_id=${template}`)).toEqual(['shared']);
    // In order of name, whatever its case; in lists as where one post is read.
    const tags = [{ id: blue, name: 'Blue', color: '#0000FF' }, { id: red, name: 'red', color: '#FF0000' }];
    expect((await list(`tag_id=${blue}`)).body.data[0].tags).toEqual(tags);
    expect((await world.send('GET', `/v1/posts/${made.partial.id}`)).body.tags).toEqual(tags);
  });

  test('a range is a calendar: it looks at the planned time', async () => {
    expect(await names(`from=${inSeconds(86_400)}`)).toEqual(['scheduled']);
    expect(await names(`to=${inSeconds(86_400)}&q=alpha`)).toEqual(['published']);
    expect(await names('to=9999-12-31T23:59:59.999Z&q=alpha&status=published')).toEqual(['published']);
    const { published_at } = (await world.send('GET', `/v1/posts/${made.published.id}`)).body;
    expect(await names(`from=${published_at}&to=${published_at}&q=alpha`)).toEqual(['published']);
  });

  test('a range has pages too: planned and other posts in the one order of the list', async () => {
    const range = `from=${inSeconds(-3_600)}&to=${inSeconds(8 * 86_400)}`;
    const whole = (await list(`${range}&limit=100`)).body.data.map((one: any) => one.id);
    expect(whole).toEqual((await list('limit=100')).body.data.map((one: any) => one.id));
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: { body: any } = await list(`${range}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...body.data.map((one: any) => one.id));
      cursor = body.next_cursor;
    }
    expect(paged).toEqual(whole);
  });

  test.each([
    ['status=done', 'invalid_value', 'status'], ['status=draft&status=failed', 'invalid_type', 'status'], ['platform=myspace', 'invalid_value', 'platform'], ['limit=0', 'too_small', 'limit'], ['limit=101', 'too_big', 'limit'],
    ['limit=x', 'invalid_type', 'limit'], ['from=yesterday', 'invalid_string', 'from'], ['roots_only=1', 'invalid_type', 'roots_only'], [`q=${'x'.repeat(201)}`, 'too_big', 'q'],
    ['include_external=yes', 'invalid_type', 'include_external'], ['include_external=true&status=draft', 'invalid_value', 'include_external'],
    [`account_ids=${Array.from({ length: 51 }, (_, at) => `a${at}`).join(',')}`, 'too_big', 'account_ids'], ['from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'custom', 'to'],
  ])('%s is 422', async (query, code, parameter) => {
    const answer = await list(query);
    expect(codeOf(answer)).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.body.error.details.issues[0]).toMatchObject({ code, in: 'query' });
    expect(answer.body.error.details.issues[0].path[0]).toBe(parameter);
  });

  test.each(['ws_1', 'x'])('workspace_id=%s is 404', async (id) => expect(codeOf(await list(`workspace_id=${id}`))).toEqual([404, 'NOT_FOUND']));
});

describe('GET /v1/posts › found by account, platform or tag', () => {
  test('in the order of the list, which a publication changes; each post once', async () => {
    const { infra } = world.api;
    const org = (await organization(infra)).id;
    const key = (await apiKey(infra, { organizationId: org })).secret;
    const [first, second] = [await account(infra, { organizationId: org, platform: 'mastodon' }), await account(infra, { organizationId: org, platform: 'mastodon' })];
    const made: any[] = [];
    for (const at of [0, 1, 2]) made.push((await world.post({ targets: [first.id, second.id], scheduled_at: 'now', content: `text ${at}` }, { key })).body);
    const tag = newId('tag');
    await inScope(infra.db, SYSTEM, async (tx) => {
      await tx.insert(TagEntity, { id: tag, organizationId: org, mode: 'test', name: 'green', color: '#00FF00', createdAt: new Date(), updatedAt: new Date() });
      await tx.insertMany(PostTagEntity, made.map((post) => ({ postId: post.id, tagId: tag, organizationId: org, mode: 'test' as const, createdAt: new Date() })));
    });
    const queries = ['', `account_id=${first.id}`, `account_ids=${first.id},${second.id}`, 'platform=mastodon', `tag_id=${tag}`, `tag_id=${tag}&platform=mastodon&account_id=${second.id}`];
    const orders = () => Promise.all(queries.map(async (query) => (await list(query, key)).body.data.map((one: any) => made.findIndex((post) => post.id === one.id))));
    expect(await orders()).toEqual(queries.map(() => [2, 1, 0]));
    await carriedOut(world, targetOf(made[0], second.id).operation_id, 'published');
    expect(await orders()).toEqual(queries.map(() => [0, 2, 1]));
  });
});

describe('GET /v1/posts › what is shown', () => {
  const first = async (include: string) => (await list(`q=100%25&include=${include}`)).body.data[0];

  test('without include: neither targets nor media, everything else', async () => {
    const one = await first('');
    expect(one).toMatchObject({ targets: {}, media: null, cross_post_actions: [], platforms: ['mastodon'], content: 'Alpha 100% _sure_' });
  });

  test('include names them; unknown names are ignored', async () => {
    expect(Object.keys((await first('targets,nothing')).targets)).toEqual([world.mastodon.id]);
    expect((await first('media')).targets).toEqual({});
    expect((await first('media')).media).toHaveLength(1);
    expect(await first('all')).toEqual((await world.send('GET', `/v1/posts/${made.published.id}`)).body);
  });
});

describe('GET /v1/posts › scope', () => {
  test('a restricted credential sees the posts of its workspaces', async () => {
    const key = (await apiKey(world.api.infra, { organizationId: world.org.id, workspaceScope: [brand] })).secret;
    expect(await names('', key)).toEqual(['inBrand']);
    expect(codeOf(await list(`workspace_id=${shop}`, key))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
  });

  test('another mode and another organization see nothing', async () => {
    const live = (await apiKey(world.api.infra, { organizationId: world.org.id, mode: 'live' })).secret;
    const foreign = (await apiKey(world.api.infra, { organizationId: (await organization(world.api.infra)).id })).secret;
    expect([await names('', live), await names('', foreign)]).toEqual([[], []]);
  });
});

describe('GET /v1/posts › pages', () => {
  let key: string;
  let ids: string[];
  beforeAll(async () => {
    const { infra } = world.api;
    const org = (await organization(infra)).id;
    key = (await apiKey(infra, { organizationId: org })).secret;
    await account(infra, { organizationId: org, platform: 'mastodon' });
    ids = [];
    for (let at = 0; at < 7; at += 1) ids.unshift((await world.post({ targets: ['mastodon'], scheduled_at: 'draft', content: `p${at}` }, { key })).body.id);
    // Three of one millisecond are ordered by id.
    await inScope(infra.db, SYSTEM, (tx) => tx.execute('update post set created_at = (select created_at from post where id = ?) where id in (?)', [ids[3], ids.slice(2, 5)]));
  });

  const walk = async (limit: number, between: (page: number) => Promise<void> = async () => {}) => {
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; ; page += 1) {
      const { body } = await list(`limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`, key);
      seen.push(...body.data.map((one: any) => one.id));
      expect(body.has_more).toBe(body.next_cursor !== null);
      if (!body.has_more) return seen;
      cursor = body.next_cursor;
      await between(page);
    }
  };

  test.each([1, 2, 3, 7, 100])('%d a page: newest first, each once', async (limit) => expect(await walk(limit)).toEqual(ids));

  test('new and deleted posts neither repeat nor hide others', async () => {
    const seen = await walk(2, async (page) => {
      await world.post({ targets: ['mastodon'], scheduled_at: 'draft', content: 'new' }, { key });
      // The row that the cursor names is deleted too.
      if (page === 0) await world.send('DELETE', `/v1/posts/${ids[1]}`, undefined, { key });
    });
    expect(seen).toEqual(ids);
  });

  test('a cursor belongs to its list, filters and organization; the limit may change', async () => {
    const { next_cursor: cursor } = (await list('limit=1&status=draft', key)).body;
    expect((await list(`limit=5&status=draft&cursor=${cursor}`, key)).status).toBe(200);
    for (const query of [`limit=1&cursor=${cursor}`, `status=draft,failed&cursor=${cursor}`, `status=draft&cursor=${cursor}A`, 'status=draft&cursor=x', `status=draft&q=x&cursor=${cursor}`]) {
      expect(codeOf(await list(query, key))).toEqual([400, 'INVALID_CURSOR']);
    }
    expect(codeOf(await list(`status=draft&cursor=${cursor}`))).toEqual([400, 'INVALID_CURSOR']);
    expect(codeOf(await world.send('GET', `/v1/posts/logs?status=draft&cursor=${cursor}`, undefined, { key }))).toEqual([400, 'INVALID_CURSOR']);
  });
});
