import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventEntity } from '../../../infra/db/entities/event.entity.ts';
import { OperationEntity } from '../../../infra/db/entities/operation.entity.ts';
import { TargetEntity } from '../../../infra/db/entities/target.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { beginPost } from '../../../infra/ledger/begin.ts';
import { claim } from '../../../infra/ledger/claim.ts';
import { carriedOut, codeOf, inSeconds, openWorld, outboxOf, statuses, targetOf, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const rows = <T>(work: Parameters<typeof inScope<T>>[2]) => inScope(world.api.infra.db, SYSTEM, work);
const cancel = (id: string, headers: Record<string, string> = {}) => world.send('POST', `/v1/posts/${id}/cancel`, undefined, { headers });
const read = async (id: string) => (await world.send('GET', `/v1/posts/${id}`)).body;
const both = (scheduled_at: string) => world.accepted({ targets: ['mastodon', 'twitter'], scheduled_at, content: 'x' });
const events = async (id: string) => (await rows((tx) => tx.find(EventEntity, { subjectId: id }, { orderBy: { sequence: 'asc' } }))).map((one) => one.event);

/** As the sender does right before the first byte leaves. */
async function beingSent(operationId: string): Promise<void> {
  const operation = await rows((tx) => tx.findOneOrFail(OperationEntity, { id: operationId }));
  const plan = [{ name: 'publish', effect: 'public_unkeyed', required: true }] as const;
  await claim(world.api.infra.db, { operation, step: 'publish', plan, done: new Map(), now: new Date(), deadline: new Date(Date.now() + 60_000), pace: null });
}

describe('POST /v1/posts/{id}/cancel', () => {
  test('a scheduled post is a draft again, tells so with post.updated, and never goes out', async () => {
    const post = await both(inSeconds(60));
    const answer = await cancel(post.id);
    expect([answer.status, answer.body.status, answer.body.scheduled_at, answer.body.revision, answer.headers.get('etag')]).toEqual([200, 'draft', null, 2, '"2"']);
    expect(statuses(answer.body)).toEqual(['draft', 'draft']);
    expect((await outboxOf(world, post.id)).map((row) => row.id)).toEqual([`cancel:post/${post.id}/1`]);
    expect(await rows((tx) => beginPost(tx, { postId: post.id, seq: 1, now: new Date(Date.now() + 120_000) }))).toEqual({ kind: 'superseded' });
    expect(await events(post.id)).toEqual(['post.created', 'post.scheduled', 'post.updated']);
    const told = await rows((tx) => tx.findOneOrFail(EventEntity, { subjectId: post.id, event: 'post.updated' }));
    expect(told.data).toMatchObject({ status: 'draft', scheduled_at: null, changed: ['scheduled_at'] });
    expect(await rows((tx) => tx.find(TargetEntity, { postId: post.id }))).toMatchObject([{ text: null, media: [] }, { text: null, media: [] }]);
  });

  test('a cancelled post can be scheduled and published anew, with what it says then', async () => {
    const post = await both(inSeconds(60));
    await cancel(post.id);
    const answer = await world.send('PATCH', `/v1/posts/${post.id}`, { scheduled_at: 'now', content: 'later words' });
    expect([answer.status, answer.body.status, answer.body.revision]).toEqual([200, 'publishing', 3]);
    expect((await rows((tx) => tx.find(TargetEntity, { postId: post.id }))).map((target) => target.text)).toEqual(['later words', 'later words']);
  });

  test('publishing: what is pending ends as CANCELLED, what is being sent goes on', async () => {
    const post = await both('now');
    const [pending, sending] = [targetOf(post, world.mastodon.id).operation_id, targetOf(post, world.twitter.id).operation_id];
    await beingSent(sending);
    const answer = await cancel(post.id);
    expect([answer.status, answer.body.status, answer.body.revision, ...statuses(answer.body)]).toEqual([200, 'publishing', 1, 'failed', 'publishing']);
    expect(answer.body.targets[world.mastodon.id].error).toMatchObject({ code: 'CANCELLED', retryable: true, operation_id: pending });
    expect(targetOf(answer.body, world.twitter.id).operation_state).toBe('sending');
    await expect(carriedOut(world, pending, 'published')).rejects.toThrow('the claim was not free');
    expect(await events(post.id)).toEqual(['post.created']);
  });

  test('where nothing was sent the post has failed, and a retry publishes it', async () => {
    const post = await both('now');
    const answer = await cancel(post.id);
    expect([answer.status, answer.body.status, ...statuses(answer.body)]).toEqual([200, 'failed', 'failed', 'failed']);
    expect(await events(post.id)).toEqual(['post.created', 'post.failed']);
    expect((await world.send('POST', `/v1/posts/${post.id}/retry`)).body.status).toBe('publishing');
  });

  test('publishing with one published: the rest cancelled is a partial post', async () => {
    const post = await both('now');
    await carriedOut(world, targetOf(post, world.twitter.id).operation_id, 'published');
    expect((await cancel(post.id)).body.status).toBe('partial');
    expect(await events(post.id)).toEqual(['post.created', 'post.partial']);
  });

  test('everything is being sent already: 200, and it goes on', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: 'now', content: 'x' });
    await beingSent(targetOf(post, world.mastodon.id).operation_id);
    const answer = await cancel(post.id);
    expect([answer.status, answer.body]).toEqual([200, await read(post.id)]);
    expect(answer.body.status).toBe('publishing');
  });

  test('a draft stays as it is', async () => {
    const post = await both('draft');
    const answer = await cancel(post.id);
    expect([answer.status, answer.body]).toEqual([200, post]);
    expect(await events(post.id)).toEqual(['post.created']);
  });

  test('ended: 409 with the status', async () => {
    for (const [mastodon, twitter, status] of [['published', 'published', 'published'], ['published', 'unknown', 'partial'], ['refused', 'refused', 'failed']] as const) {
      const post = await both('now');
      await carriedOut(world, targetOf(post, world.mastodon.id).operation_id, mastodon);
      await carriedOut(world, targetOf(post, world.twitter.id).operation_id, twitter);
      const answer = await cancel(post.id);
      expect([...codeOf(answer), answer.body.error.details]).toEqual([409, 'INVALID_STATE', { status }]);
    }
  });

  test('unknown and deleted posts: 404', async () => {
    const post = await both('draft');
    await world.send('DELETE', `/v1/posts/${post.id}`);
    expect(codeOf(await cancel(post.id))).toEqual([404, 'POST_NOT_FOUND']);
    expect(codeOf(await cancel('nonsense'))).toEqual([404, 'POST_NOT_FOUND']);
  });

  test('cancel against the due time: one of them was first, and the other sees it', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(60), content: 'x' });
    const [answer, begun] = await Promise.all([cancel(post.id), rows((tx) => beginPost(tx, { postId: post.id, seq: 1, now: new Date(Date.now() + 120_000) }))]);
    expect(answer.body.status).toBe(begun.kind === 'begun' ? 'failed' : 'draft');
    expect(await read(post.id)).toMatchObject({ status: answer.body.status });
  });

  test('is repeated by its key', async () => {
    const post = await both(inSeconds(60));
    const once = () => cancel(post.id, { 'idempotency-key': 'cancel-this-once' });
    const [first, second] = [await once(), await once()];
    expect([first.text, second.headers.get('idempotency-replayed')]).toEqual([second.text, 'true']);
  });
});
