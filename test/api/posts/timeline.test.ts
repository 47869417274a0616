import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PostEntity } from '../../../infra/db/entities/post.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { beginPost } from '../../../infra/ledger/begin.ts';
import { endLateOperation } from '../../../infra/ledger/late.ts';
import { carriedOut, codeOf, inSeconds, openWorld, targetOf, type World } from './world.ts';

let world: World;
let post: any;
let operation: { mastodon: string; twitter: string };

/** A post that was changed, published on one platform, got lost on another, and was cancelled too late. */
beforeAll(async () => {
  world = await openWorld();
  const made = await world.accepted({ targets: ['mastodon', 'twitter'], scheduled_at: inSeconds(60), content: 'a secret plan' });
  post = (await world.send('PATCH', `/v1/posts/${made.id}`, { scheduled_at: 'now' })).body;
  operation = { mastodon: targetOf(post, world.mastodon.id).operation_id, twitter: targetOf(post, world.twitter.id).operation_id };
  await carriedOut(world, operation.mastodon, 'published');
  await carriedOut(world, operation.twitter, 'unknown');
});
afterAll(() => world.close());

const timeline = (query = '', id = post.id) => world.send('GET', `/v1/posts/${id}/timeline${query === '' ? '' : `?${query}`}`);
const entries = async (query = '') => (await timeline(query)).body.data;

describe('GET /v1/posts/{id}/timeline', () => {
  test('everything in order: the post, and its operations under kind operation', async () => {
    const { status, body } = await timeline('limit=100');
    expect([status, body.has_more, body.next_cursor]).toEqual([200, false, null]);
    expect(body.data.filter((one: any) => one.kind !== 'operation').map((one: any) => one.kind)).toEqual([
      'created', 'rendered', 'scheduled', 'updated', 'superseded', 'rendered', 'target_changed', 'target_changed', 'target_changed', 'target_changed', 'post_changed',
    ]);
    const changes = body.data.filter((one: any) => one.kind === 'target_changed').map((one: any) => [one.account_id, one.data.from, one.data.to, one.data.code]);
    expect(changes).toEqual([
      [world.mastodon.id, 'scheduled', 'publishing', undefined], [world.twitter.id, 'scheduled', 'publishing', undefined],
      [world.mastodon.id, 'publishing', 'published', undefined], [world.twitter.id, 'publishing', 'failed', 'PROVIDER_OUTCOME_UNKNOWN'],
    ]);
    expect(body.data.filter((one: any) => one.operation_id === operation.mastodon).map((one: any) => one.data.type)).toEqual(expect.arrayContaining(['accepted', 'settled']));
    expect(body.data.filter((one: any) => one.operation_id === operation.twitter).map((one: any) => one.data.type)).toEqual(expect.arrayContaining(['accepted', 'outcome_unknown', 'event_emitted']));
    const places = body.data.map((one: any) => `${one.at} ${one.id}`);
    expect(places).toEqual(places.toSorted());
  });

  describe('every cause stands before what follows from it', () => {
    const told = async (id: string) => (await timeline('limit=100', id)).body.data.map((one: any) => (one.kind === 'operation' ? one.data.type : one.kind));
    const send = (id: string, path: string) => world.send('POST', `/v1/posts/${id}/${path}`);
    const published = () => world.accepted({ targets: ['mastodon'], scheduled_at: 'now', content: 'x' });
    const operationOf = (one: any) => targetOf(one, world.mastodon.id).operation_id;

    test('of a post that is published, refused and tried again', async () => {
      const made = await published();
      await carriedOut(world, operationOf(made), 'refused');
      const again = (await send(made.id, 'retry')).body;
      expect((await told(made.id)).filter((one: string) => one !== 'claimed' && one !== 'subject_updated' && one !== 'event_emitted')).toEqual([
        'created', 'rendered', 'accepted', 'settled', 'target_changed', 'post_changed', 'retry_requested', 'accepted', 'target_changed',
      ]);
      expect(operationOf(again)).not.toBe(operationOf(made));
    });

    test('of one that is changed to now', async () => {
      const { id } = await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft', content: 'x' });
      await world.send('PATCH', `/v1/posts/${id}`, { scheduled_at: 'now', allow_duplicate: true });
      expect(await told(id)).toEqual(['created', 'updated', 'rendered', 'accepted', 'target_changed']);
    });

    test('of one that is cancelled or deleted while it is under way', async () => {
      const [cancelled, deleted] = [await published(), await published()];
      await send(cancelled.id, 'cancel');
      await world.send('DELETE', `/v1/posts/${deleted.id}`);
      expect(await told(cancelled.id)).toEqual(['created', 'rendered', 'accepted', 'cancel_requested', 'settled', 'target_changed', 'post_changed']);
      expect(await told(deleted.id)).toEqual(['created', 'rendered', 'accepted', 'deleted', 'settled', 'target_changed']);
    });

    test('of one that is cancelled or deleted before its time', async () => {
      const scheduled = async () => (await world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(600), content: 'x' })).id;
      const [cancelled, deleted] = [await scheduled(), await scheduled()];
      await send(cancelled, 'cancel');
      await world.send('DELETE', `/v1/posts/${deleted}`);
      expect(await told(cancelled)).toEqual(['created', 'rendered', 'scheduled', 'cancel_requested', 'superseded', 'target_changed']);
      expect(await told(deleted)).toEqual(['created', 'rendered', 'scheduled', 'deleted', 'superseded']);
    });

    test('of one that begins, and of one that is held', async () => {
      const begun = async (more: object) => {
        const { id } = await world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(600), content: 'x', ...more });
        await inScope(world.api.infra.db, SYSTEM, (tx) => beginPost(tx, { postId: id, seq: 1, now: new Date(Date.now() + 630_000) }));
        return told(id);
      };
      expect(await begun({})).toEqual(['created', 'rendered', 'scheduled', 'began', 'accepted', 'target_changed']);
      expect(await begun({ catch_up: { max_lateness_seconds: 0 } })).toEqual(['created', 'rendered', 'scheduled', 'late', 'held', 'target_changed']);
    });

    test.each([
      ['skip', ['late', 'skipped', 'settled', 'target_changed', 'post_changed', 'subject_updated', 'event_emitted']], ['hold', ['late', 'held', 'target_changed', 'settled']],
    ])('of one that waits until it is too late, to %s', async (on_late, entries) => {
      const made = await world.accepted({ targets: ['mastodon'], scheduled_at: 'now', content: 'x', catch_up: { max_lateness_seconds: 0, on_late } });
      const late = { operationId: operationOf(made), now: new Date(Date.now() + 30_000), activityTimeoutMs: 1_000 };
      await inScope(world.api.infra.db, SYSTEM, (tx) => endLateOperation(tx, late));
      expect(await told(made.id)).toEqual(['created', 'rendered', 'accepted', ...entries]);
    });
  });

  test('says who, by which request, and which event told it', async () => {
    const [created] = await entries('kind=created');
    expect(created).toEqual({
      id: expect.any(String), at: post.created_at, kind: 'created', message: 'The post was created as scheduled.', post_id: post.id, target_id: null, account_id: null, operation_id: null,
      event_id: expect.stringMatching(/^whe_/), delivery_id: null, evidence_id: null, verdict_id: null, actor: { type: 'api_key', id: expect.stringMatching(/^key_/) },
      request_id: expect.stringMatching(/^req_/), data: { status: 'scheduled' },
    });
    expect((await entries('kind=updated'))[0].data).toEqual({ fields: ['scheduled_at'], revision: 2 });
  });

  test('an entry of an operation names its target and account', async () => {
    const [accepted] = (await entries('kind=operation')).filter((one: any) => one.operation_id === operation.twitter);
    expect(accepted).toMatchObject({ kind: 'operation', target_id: targetOf(post, world.twitter.id).target_id, account_id: world.twitter.id, post_id: post.id, data: { type: 'accepted' } });
  });

  test('holds nothing of the content', async () => {
    expect((await timeline('limit=100')).text).not.toContain('secret');
  });

  test('filters by target and by kinds; unknown ids find nothing, unknown kinds are refused', async () => {
    const { target_id } = targetOf(post, world.mastodon.id);
    const ofTarget = await entries(`target_id=${target_id}&limit=100`);
    expect(ofTarget.length).toBeGreaterThan(0);
    for (const one of ofTarget) expect([one.target_id, one.account_id]).toEqual([target_id, world.mastodon.id]);
    expect((await entries('kind=scheduled, post_changed')).map((one: any) => one.kind)).toEqual(['scheduled', 'post_changed']);
    // An operation has an entry of this name, but it is no kind of the post.
    expect(await entries('kind=event_emitted')).toEqual([]);
    expect(await entries('target_id=pt_x')).toEqual([]);
    const refused = await timeline('kind=scheduled,nonsense');
    expect([...codeOf(refused), refused.body.error.details.issues[0]]).toMatchObject([422, 'VALIDATION_ERROR', { code: 'invalid_value', in: 'query' }]);
  });

  test('pages neither repeat nor leave out; a cursor of other filters is refused', async () => {
    const all = await entries('limit=100');
    const paged: any[] = [];
    let cursor = '';
    for (let page = 0; page < 100; page++) {
      const { body } = await timeline(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...body.data);
      if (!body.has_more) break;
      cursor = body.next_cursor;
    }
    expect(paged).toEqual(all);
    expect(codeOf(await timeline(`kind=operation&cursor=${cursor}`))).toEqual([400, 'INVALID_CURSOR']);
    expect((await entries()).length).toBe(Math.min(20, all.length));
  });

  test('from and to are about when it was observed', async () => {
    const all = await entries('limit=100');
    const last = all.at(-1).at;
    expect(await entries(`from=${last}&to=${last}`)).toEqual(all.filter((one: any) => one.at === last));
    expect(await entries(`from=${inSeconds(60)}`)).toEqual([]);
    expect((await timeline(`from=${inSeconds(60)}&to=${inSeconds(0)}`)).status).toBe(422);
  });

  test('a deleted post: readable for 90 days, then 404', async () => {
    const other = await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft' });
    await world.send('DELETE', `/v1/posts/${other.id}`);
    expect((await timeline('', other.id)).body.data.map((one: any) => one.kind)).toEqual(['created', 'deleted']);
    const days = (count: number) => new Date(Date.now() - count * 86_400_000);
    const deleted = (deletedAt: Date) => inScope(world.api.infra.db, SYSTEM, (tx) => tx.nativeUpdate(PostEntity, { id: other.id }, { deletedAt }));
    await deleted(days(89.9));
    expect((await timeline('', other.id)).status).toBe(200);
    await deleted(days(90.1));
    expect(codeOf(await timeline('', other.id))).toEqual([404, 'POST_NOT_FOUND']);
  });

  test('unknown posts: 404', async () => {
    expect(codeOf(await timeline('', 'nonsense'))).toEqual([404, 'POST_NOT_FOUND']);
  });
});
