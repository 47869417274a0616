import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { apiKey, organization } from '../../support/factories.ts';
import { carriedOut, codeOf, inSeconds, openWorld, targetOf, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const list = (id: string, key?: string) => world.send('GET', `/v1/posts/${id}/targets`, undefined, { key });
const one = (id: string, target: string) => world.send('GET', `/v1/posts/${id}/targets/${target}`);
const made = (more: Record<string, unknown>) => world.accepted({ targets: ['mastodon', 'twitter'], scheduled_at: 'now', content: 'shared', ...more });

describe('GET /v1/posts/{id}/targets', () => {
  test('each target in the order of the post, with what it publishes and how that is counted', async () => {
    const post = await made({
      media: [{ url: 'https://a.example/a.png', alt_text: 'A' }],
      target_options: { twitter: { content: 'for twitter' }, [world.mastodon.id]: { visibility: 'unlisted' } },
    });
    const { status, body } = await list(post.id);
    expect([status, body.next_cursor, body.has_more, body.data.map((target: any) => target.account_id)]).toEqual([200, null, false, [world.mastodon.id, world.twitter.id]]);
    const [mastodon, twitter] = body.data;
    const account = targetOf(post, world.mastodon.id);
    expect(mastodon).toEqual({
      target_id: account.target_id, account_id: world.mastodon.id, platform: 'mastodon', status: 'publishing', attempt: 1,
      text: 'shared', text_length: 6, length_limit: 500, length_unit: expect.any(String), options: expect.objectContaining({ visibility: 'unlisted' }),
      media: [{ url: 'https://a.example/a.png', type: 'image', media_id: null, alt_text: 'A', mime_type: null, width: null, height: null, duration_ms: null, thumbnail: null }],
      error: null, accounts: [account], operations: [{ id: account.operation_id, status: 'pending', attempt: 1, created_at: expect.any(String), settled_at: null }],
      platform_post_ids: [], metrics: null, metrics_at: null, metrics_error: null,
    });
    expect(twitter).toMatchObject({ text: 'for twitter', text_length: 11, length_limit: 280, length_unit: 'weighted' });
  });

  test('published, failed and tried again', async () => {
    const post = await made({});
    await carriedOut(world, targetOf(post, world.mastodon.id).operation_id, 'published');
    await carriedOut(world, targetOf(post, world.twitter.id).operation_id, 'refused');
    const [published, failed] = (await list(post.id)).body.data;
    expect(published).toMatchObject({ status: 'published', error: null, platform_post_ids: [{ platform_post_id: '4711', url: 'https://platform.example/4711', from: published.accounts[0].published_at, to: null }] });
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'PROVIDER_REJECTED', detail: 'no' }, platform_post_ids: [], operations: [{ status: 'failed', settled_at: expect.any(String) }] });
    await world.send('POST', `/v1/posts/${post.id}/retry`);
    const [, again] = (await list(post.id)).body.data;
    expect(again).toMatchObject({ status: 'publishing', attempt: 2, error: null, operations: [{ id: failed.operations[0].id, attempt: 1, status: 'failed' }, { attempt: 2, status: 'pending' }] });
  });

  test('a draft is rendered now: a later change of the post shows at once', async () => {
    const post = await made({ scheduled_at: 'draft', content: 'first' });
    expect((await list(post.id)).body.data).toMatchObject([{ text: 'first', operations: [], attempt: 0 }, { text: 'first' }]);
    await world.send('PATCH', `/v1/posts/${post.id}`, { content: 'second', media: [{ url: 'https://a.example/b.png' }], target_options: { mastodon: { content: 'own' } } });
    expect((await list(post.id)).body.data).toMatchObject([{ text: 'own', text_length: 3, media: [{ type: 'image' }] }, { text: 'second' }]);
  });

  test('a draft without any text, and one far too long', async () => {
    const [empty] = (await list((await made({ scheduled_at: 'draft', content: null })).id)).body.data;
    expect(empty).toMatchObject({ text: null, text_length: 0, media: [] });
    const [long] = (await list((await made({ scheduled_at: 'draft', content: 'x'.repeat(600) })).id)).body.data;
    expect(long).toMatchObject({ text_length: 600, length_limit: 500 });
  });

  test('a scheduled post shows what is frozen', async () => {
    const post = await made({ scheduled_at: inSeconds(60) });
    expect((await list(post.id)).body.data).toMatchObject([{ status: 'scheduled', text: 'shared', operations: [] }, { status: 'scheduled', text: 'shared' }]);
  });

  test('unknown and deleted posts, and those of others: 404', async () => {
    const post = await made({ scheduled_at: 'draft' });
    const elsewhere = await organization(world.api.infra);
    const { secret } = await apiKey(world.api.infra, { organizationId: elsewhere.id });
    expect(codeOf(await list(post.id, secret))).toEqual([404, 'POST_NOT_FOUND']);
    await world.send('DELETE', `/v1/posts/${post.id}`);
    for (const id of [post.id, 'nonsense']) expect(codeOf(await list(id))).toEqual([404, 'POST_NOT_FOUND']);
  });
});

describe('GET /v1/posts/{id}/targets/{target_id}', () => {
  test('by its own id and by its account: the same as in the list', async () => {
    const post = await made({});
    const [, twitter] = (await list(post.id)).body.data;
    for (const name of [twitter.target_id, world.twitter.id]) {
      const answer = await one(post.id, name);
      expect([answer.status, answer.body]).toEqual([200, twitter]);
    }
  });

  test("404 for what is no target of this post, be it another post's or an account without one", async () => {
    const post = await made({ targets: ['mastodon'] });
    const other = await made({ targets: ['twitter'] });
    for (const name of [targetOf(other, world.twitter.id).target_id, world.twitter.id, 'nonsense', `pt_${'0'.repeat(32)}`]) {
      const answer = await one(post.id, name);
      expect([...codeOf(answer), answer.body.error.details]).toEqual([404, 'TARGET_NOT_FOUND', { resource: 'target' }]);
    }
    expect(codeOf(await one('nonsense', targetOf(post, world.mastodon.id).target_id))).toEqual([404, 'POST_NOT_FOUND']);
  });
});
