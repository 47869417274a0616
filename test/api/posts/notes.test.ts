import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventEntity } from '../../../infra/db/entities/event.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { carriedOut, codeOf, inSeconds, openWorld, targetOf, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const get = (id: string) => world.send('GET', `/v1/posts/${id}/notes`);
const patch = (id: string, body: unknown, headers: Record<string, string> = {}) => world.send('PATCH', `/v1/posts/${id}/notes`, body, { headers });
const read = async (id: string) => (await world.send('GET', `/v1/posts/${id}`)).body;
const events = async (id: string) => inScope(world.api.infra.db, SYSTEM, (tx) => tx.find(EventEntity, { subjectId: id }, { orderBy: { sequence: 'asc' } }));
const draft = (more: Record<string, unknown> = {}) => world.accepted({ targets: ['mastodon'], scheduled_at: 'draft', ...more });

describe('GET and PATCH /v1/posts/{id}/notes', () => {
  test('what was given at creation, and null where nothing was', async () => {
    expect((await get((await draft({ notes: 'ask Ada' })).id)).body).toEqual({ notes: 'ask Ada' });
    expect((await get((await draft()).id)).body).toEqual({ notes: null });
  });

  test('replaced, emptied and cleared; the revision stays, updated_at moves', async () => {
    const post = await draft({ notes: 'a' });
    for (const notes of ['b', '', null]) {
      const answer = await patch(post.id, { notes });
      expect([answer.status, answer.body, (await get(post.id)).body]).toEqual([200, { notes }, { notes }]);
    }
    const after = await read(post.id);
    expect([after.notes, after.revision, after.updated_at > post.updated_at]).toEqual([null, 1, true]);
  });

  test('{} and what is stored already change nothing', async () => {
    const post = await draft({ notes: 'a' });
    for (const body of [{}, undefined, { notes: 'a' }]) expect((await patch(post.id, body)).body).toEqual({ notes: 'a' });
    expect(await read(post.id)).toEqual(post);
    expect(await events(post.id)).toHaveLength(1);
  });

  test('posts still to come tell so with post.updated; the waiting workflow is left alone', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(60), content: 'x' });
    await patch(post.id, { notes: 'b' });
    expect((await events(post.id)).at(-1)).toMatchObject({ event: 'post.updated', data: { changed: ['notes'], status: 'scheduled' } });
    expect(await read(post.id)).toMatchObject({ status: 'scheduled', scheduled_at: post.scheduled_at, revision: 1, notes: 'b' });
  });

  test('publishing and ended posts too, without an event', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: 'now', content: 'x' });
    expect((await patch(post.id, { notes: 'while publishing' })).status).toBe(200);
    await carriedOut(world, targetOf(post, world.mastodon.id).operation_id, 'published');
    expect((await patch(post.id, { notes: 'afterwards' })).body).toEqual({ notes: 'afterwards' });
    expect((await events(post.id)).map((one) => one.event)).toEqual(['post.created', 'post.published']);
    expect(await read(post.id)).toMatchObject({ status: 'published', revision: 1, notes: 'afterwards' });
  });

  test('10,000 characters, counted as code points', async () => {
    const post = await draft();
    expect((await patch(post.id, { notes: '🦊'.repeat(10_000) })).status).toBe(200);
    const answer = await patch(post.id, { notes: 'x'.repeat(10_001) });
    expect([...codeOf(answer), answer.body.error.details.issues[0]]).toMatchObject([422, 'VALIDATION_ERROR', { code: 'too_big', path: ['notes'] }]);
  });

  test.each([[{ notes: 1 }, 'invalid_type', ['notes']], [{ note: 'x' }, 'unrecognized_keys', ['note']], [{ notes: 'x', revision: 1 }, 'unrecognized_keys', ['revision']]])('%j: 422', async (body, code, path) => {
    const answer = await patch((await draft()).id, body);
    expect([...codeOf(answer), answer.body.error.details.issues[0]]).toMatchObject([422, 'VALIDATION_ERROR', { code, path }]);
  });

  test('unknown and deleted posts: 404', async () => {
    const post = await draft();
    await world.send('DELETE', `/v1/posts/${post.id}`);
    for (const id of [post.id, 'nonsense', `xpost_${'0'.repeat(32)}`]) {
      expect(codeOf(await get(id))).toEqual([404, 'POST_NOT_FOUND']);
      expect(codeOf(await patch(id, { notes: 'x' }))).toEqual([404, 'POST_NOT_FOUND']);
    }
  });

  test('is repeated by its key', async () => {
    const post = await draft();
    const once = () => patch(post.id, { notes: 'once' }, { 'idempotency-key': 'notes-just-once' });
    await once();
    await patch(post.id, { notes: 'meanwhile' });
    const again = await once();
    expect([again.body, again.headers.get('idempotency-replayed'), (await get(post.id)).body]).toEqual([{ notes: 'once' }, 'true', { notes: 'meanwhile' }]);
  });
});
