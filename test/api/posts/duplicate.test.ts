import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PostEntity } from '../../../infra/db/entities/post.entity.ts';
import { EventEntity } from '../../../infra/db/entities/event.entity.ts';
import { TargetEntity } from '../../../infra/db/entities/target.entity.ts';
import { TimelineEntryEntity } from '../../../infra/db/entities/timeline-entry.entity.ts';
import { WorkspaceEntity } from '../../../infra/db/entities/workspace.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { carriedOut, codeOf, inSeconds, openWorld, outboxOf, statuses, targetOf, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const rows = <T>(work: Parameters<typeof inScope<T>>[2]) => inScope(world.api.infra.db, SYSTEM, work);
const duplicate = (id: string, body?: unknown, options: { key?: string; headers?: Record<string, string> } = {}) => world.send('POST', `/v1/posts/${id}/duplicate`, body, options);
const read = async (id: string) => (await world.send('GET', `/v1/posts/${id}`)).body;
const both = (more: Record<string, unknown> = {}) => world.accepted({ targets: ['mastodon', 'twitter'], scheduled_at: 'now', content: 'x', ...more });
type Outcome = 'published' | 'refused' | 'unknown';

async function ended(mastodon: Outcome, twitter: Outcome) {
  const post = await both();
  await carriedOut(world, targetOf(post, world.mastodon.id).operation_id, mastodon);
  await carriedOut(world, targetOf(post, world.twitter.id).operation_id, twitter);
  return read(post.id);
}

describe('POST /v1/posts/{id}/duplicate', () => {
  test('a new draft with text, media, options, zone and catch-up of the source; notes stay behind', async () => {
    const source = await both({
      scheduled_at: inSeconds(600), media: [{ url: 'https://a.example/a.png', alt_text: 'A' }], timezone: 'Europe/Berlin', notes: 'for us only',
      target_options: { twitter: { content: 'own' } }, catch_up: { max_lateness_seconds: 5, on_late: 'skip' },
    });
    const answer = await duplicate(source.id);
    expect([answer.status, answer.headers.get('location'), answer.headers.get('etag'), answer.headers.get('x-usage-count')]).toEqual([201, `/v1/posts/${answer.body.id}`, '"1"', expect.stringMatching(/^\d+$/)]);
    expect(answer.body.id).not.toBe(source.id);
    expect(answer.body).toMatchObject({
      status: 'draft', scheduled_at: null, published_at: null, content: 'x', media: source.media, target_options: source.target_options, timezone: 'Europe/Berlin',
      catch_up: { max_lateness_seconds: 5, on_late: 'skip' }, notes: null, revision: 1, recycling: null, recycled_from_id: null, template_id: null, idea_id: null, thread_group_id: null, cross_post_actions: [], tags: [],
    });
    expect(Object.keys(answer.body.targets)).toEqual(Object.keys(source.targets));
    expect(targetOf(answer.body, world.twitter.id).target_id).not.toBe(targetOf(source, world.twitter.id).target_id);
    expect([await read(answer.body.id), await read(source.id)]).toEqual([answer.body, source]);
  });

  test('content, notes and time as given; null means not given', async () => {
    const source = await both({ scheduled_at: 'draft', content: 'source', notes: 'n' });
    const later = await duplicate(source.id, { content: 'a\r\nb', notes: 'mine', scheduled_at: inSeconds(600) });
    expect([later.status, later.body.status, later.body.content, later.body.notes]).toEqual([201, 'scheduled', 'a\nb', 'mine']);
    expect((await rows((tx) => tx.find(TargetEntity, { postId: later.body.id }))).map((target) => target.text)).toEqual(['a\nb', 'a\nb']);
    const nulls = await duplicate(source.id, { content: null, notes: null, scheduled_at: null, targets: null });
    expect([nulls.body.status, nulls.body.content, nulls.body.notes]).toEqual(['draft', 'source', null]);
    expect((await duplicate(source.id, { content: '' })).body.content).toBe('');
  });

  test('now: published at once, in the name of who duplicates', async () => {
    const source = await ended('published', 'published');
    const wish = { scheduled_at: 'now', targets: [world.twitter.id] };
    expect(codeOf(await duplicate(source.id, wish))).toEqual([422, 'PREFLIGHT_FAILED']);
    const answer = await duplicate(source.id, { ...wish, allow_duplicate: true });
    expect([answer.status, answer.body.status, ...statuses(answer.body)]).toEqual([201, 'publishing', 'publishing']);
    expect(await outboxOf(world, answer.body.id)).toMatchObject([{ args: { operations: [{ operationId: targetOf(answer.body, world.twitter.id).operation_id }] } }]);
    expect(await read(source.id)).toEqual(source);
  });

  test("a wall time is one of the source's zone", async () => {
    const source = await both({ scheduled_at: 'draft', timezone: 'Asia/Tokyo' });
    const wall = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19);
    const answer = await duplicate(source.id, { scheduled_at: wall, content: 'at nine in Tokyo' });
    expect([answer.status, answer.body.scheduled_at]).toEqual([201, new Date(Date.parse(`${wall}Z`) - 9 * 3_600_000).toISOString()]);
  });

  test('failed: only what is known to have failed', async () => {
    const answer = await duplicate((await ended('refused', 'unknown')).id, { targets: 'failed' });
    expect([answer.status, Object.keys(answer.body.targets)]).toEqual([201, [world.mastodon.id]]);
    expect(Object.keys((await duplicate((await ended('published', 'refused')).id, { targets: 'failed' })).body.targets)).toEqual([world.twitter.id]);
  });

  test('failed, all of them unknown: 409 with their operations; none failed: 409 with the status', async () => {
    const unknown = await ended('published', 'unknown');
    const first = await duplicate(unknown.id, { targets: 'failed' });
    expect([...codeOf(first), first.body.error.details]).toEqual([409, 'PROVIDER_OUTCOME_UNKNOWN', { operation_ids: [targetOf(unknown, world.twitter.id).operation_id] }]);
    for (const source of [await ended('published', 'published'), await both({ scheduled_at: 'draft' })]) {
      const answer = await duplicate(source.id, { targets: 'failed' });
      expect([...codeOf(answer), answer.body.error.details]).toEqual([409, 'INVALID_STATE', { status: source.status }]);
    }
  });

  test('all takes every target, whatever became of it', async () => {
    const source = await ended('unknown', 'published');
    for (const body of [{}, { targets: 'all' }]) expect(statuses((await duplicate(source.id, body)).body)).toEqual(['draft', 'draft']);
  });

  test('checks as create: selectors, platform rules, account states, time, quota', async () => {
    const source = await both({ scheduled_at: 'draft', content: 'x'.repeat(600) });
    expect(codeOf(await duplicate(source.id, { targets: ['linkedin'] }))).toEqual([400, 'INVALID_TARGETS']);
    expect(codeOf(await duplicate(source.id, { scheduled_at: 'now' }))).toEqual([422, 'PREFLIGHT_FAILED']);
    expect(codeOf(await duplicate(source.id, { scheduled_at: 'now', content: ' ' }))).toEqual([400, 'CONTENT_REQUIRED']);
    for (const scheduled_at of [inSeconds(-600), inSeconds(31 * 86_400), 'soon', '2020-01-01T00:00:00']) {
      const answer = await duplicate(source.id, { scheduled_at });
      expect([...codeOf(answer), answer.body.error.details.issues[0].path]).toEqual([422, 'VALIDATION_ERROR', ['scheduled_at']]);
    }
    expect((await duplicate(source.id, { scheduled_at: 'now', content: 'short' })).status).toBe(201);
  });

  test.each([
    [{ targets: 'some' }, ['targets']], [{ targets: [] }, ['targets']], [{ targets: [1] }, ['targets', 0]], [{ content: 1 }, ['content']], [{ media: [] }, ['media']], [{ timezone: 'UTC' }, ['timezone']],
  ])('%j: 422', async (body, path) => {
    const answer = await duplicate((await both({ scheduled_at: 'draft' })).id, body);
    expect([...codeOf(answer), answer.body.error.details.issues[0].path]).toEqual([422, 'VALIDATION_ERROR', path]);
  });

  test('takes one unit; over the quota nothing is stored', async () => {
    const limited = await organization(world.api.infra, { plan: 'free', quotaMode: 'hard', quotaUnits: 2 });
    const { secret: key } = await apiKey(world.api.infra, { organizationId: limited.id, mode: 'live' });
    await account(world.api.infra, { organizationId: limited.id, mode: 'live', platform: 'mastodon' });
    const source = (await world.post({ targets: ['mastodon'], scheduled_at: 'draft' }, { key })).body;
    expect((await duplicate(source.id, {}, { key })).headers.get('x-usage-count')).toBe('2');
    expect(codeOf(await duplicate(source.id, {}, { key }))).toEqual([403, 'QUOTA_EXCEEDED']);
    expect(await rows((tx) => tx.count(PostEntity, { organizationId: limited.id }))).toBe(2);
    expect(await rows((tx) => tx.count(TimelineEntryEntity, { postId: source.id, type: 'duplicated' }))).toBe(1);
  });

  test('both say in their timeline where the other is; the copy is told as a creation', async () => {
    const source = await both({ scheduled_at: 'draft' });
    const copy = (await duplicate(source.id)).body;
    const entry = async (id: string) => (await world.send('GET', `/v1/posts/${id}/timeline?kind=duplicated`)).body.data;
    expect(await entry(source.id)).toMatchObject([{ actor: { type: 'api_key' }, data: { copy_id: copy.id } }]);
    expect(await entry(copy.id)).toMatchObject([{ actor: { type: 'api_key' }, data: { source_id: source.id } }]);
    const events = (id: string) => rows((tx) => tx.find(EventEntity, { subjectId: id }));
    expect([(await events(source.id)).map((one) => one.event), (await events(copy.id)).map((one) => one.event)]).toEqual([['post.created'], ['post.created']]);
  });

  test('a given workspace stays and must fit; a derived one follows the targets', async () => {
    const { infra } = world.api;
    const { id: organizationId } = world.org;
    const [brand, shop] = [await workspace(infra, { organizationId }), await workspace(infra, { organizationId })];
    const ofBrand = await account(infra, { organizationId, platform: 'mastodon', workspaceId: brand.id });
    const ofShop = await account(infra, { organizationId, platform: 'mastodon', workspaceId: shop.id });
    const given = await world.accepted({ targets: [ofBrand.id], scheduled_at: 'draft', workspace_id: brand.id });
    expect((await duplicate(given.id)).body.workspace_id).toBe(brand.id);
    expect(codeOf(await duplicate(given.id, { targets: [ofShop.id] }))).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
    const derived = await world.accepted({ targets: [ofBrand.id], scheduled_at: 'draft' });
    expect((await duplicate(derived.id, { targets: [ofShop.id] })).body.workspace_id).toBe(shop.id);
    const { secret: key } = await apiKey(infra, { organizationId, workspaceScope: [brand.id] });
    expect((await duplicate(derived.id, {}, { key })).status).toBe(201);
    expect(codeOf(await duplicate(derived.id, { targets: [ofShop.id] }, { key }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    await rows((tx) => tx.nativeUpdate(WorkspaceEntity, { id: brand.id }, { status: 'archived' }));
    for (const source of [given, derived]) expect(codeOf(await duplicate(source.id))).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
  });

  test('accounts are named as they were: one that was reached through its platform fails alone, one that was named by its id refuses', async () => {
    const { infra } = world.api;
    const { id: organizationId } = await organization(infra);
    const { secret: key } = await apiKey(infra, { organizationId });
    const broken = await account(infra, { organizationId, platform: 'mastodon' });
    await account(infra, { organizationId, platform: 'twitter' });
    const make = async (targets: string[]) => (await world.post({ targets, scheduled_at: 'draft', content: 'x' }, { key })).body.id;
    const [reached, named] = [await make(['mastodon', 'twitter']), await make([broken.id, 'twitter'])];
    await rows((tx) => tx.execute('update account set status = ?, status_reason = ? where id = ?', ['reconnect_required', 'token_revoked', broken.id]));
    const now = { scheduled_at: 'now', allow_duplicate: true };
    const copy = (await duplicate(reached, {}, { key })).body.id;
    for (const id of [reached, copy]) expect(statuses((await duplicate(id, now, { key })).body)).toEqual(['failed', 'publishing']);
    expect(codeOf(await duplicate(named, now, { key }))).toEqual([409, 'ACCOUNT_RECONNECT_REQUIRED']);
    expect(codeOf(await duplicate(reached, { ...now, targets: [broken.id] }, { key }))).toEqual([409, 'ACCOUNT_RECONNECT_REQUIRED']);
  });

  test('unknown and deleted posts: 404', async () => {
    const post = await both({ scheduled_at: 'draft' });
    await world.send('DELETE', `/v1/posts/${post.id}`);
    for (const id of [post.id, 'nonsense']) expect(codeOf(await duplicate(id))).toEqual([404, 'POST_NOT_FOUND']);
  });

  test('one key makes one copy, however often it is sent', async () => {
    const source = await both({ scheduled_at: 'draft' });
    const once = () => duplicate(source.id, {}, { headers: { 'idempotency-key': 'duplicate-just-once' } });
    const [first, second] = [await once(), await once()];
    expect([first.text, second.headers.get('idempotency-replayed')]).toEqual([second.text, 'true']);
  });
});
