import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventEntity } from '../../../infra/db/entities/event.entity.ts';
import { OperationEntity } from '../../../infra/db/entities/operation.entity.ts';
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
const retry = (id: string, body?: unknown, headers: Record<string, string> = {}) => world.send('POST', `/v1/posts/${id}/retry`, body, { headers });
const read = async (id: string) => (await world.send('GET', `/v1/posts/${id}`)).body;
const both = () => world.accepted({ targets: ['mastodon', 'twitter'], scheduled_at: 'now', content: 'as frozen' });

async function ended(mastodon: 'published' | 'refused' | 'unknown', twitter: 'published' | 'refused' | 'unknown') {
  const post = await both();
  await carriedOut(world, targetOf(post, world.mastodon.id).operation_id, mastodon);
  await carriedOut(world, targetOf(post, world.twitter.id).operation_id, twitter);
  return read(post.id);
}

describe('POST /v1/posts/{id}/retry', () => {
  test('failed targets get a new operation and workflow; published ones stay as they are', async () => {
    const post = await ended('published', 'refused');
    expect(post.targets[world.twitter.id].error).toMatchObject({ code: 'PROVIDER_REJECTED', detail: 'no', retryable: true });
    const answer = await retry(post.id);
    expect([answer.status, answer.body.status, answer.body.published_at, answer.body.revision]).toEqual([200, 'publishing', post.published_at, 1]);
    expect(answer.body.targets[world.mastodon.id]).toEqual(post.targets[world.mastodon.id]);
    const again = targetOf(answer.body, world.twitter.id);
    expect(again).toMatchObject({ attempt: 2, operation_state: 'pending' });
    expect(answer.body.targets[world.twitter.id]).not.toHaveProperty('error');
    expect(await rows((tx) => tx.findOneOrFail(OperationEntity, { id: again.operation_id }))).toMatchObject({ previousOperationId: targetOf(post, world.twitter.id).operation_id, workflowId: `post/${post.id}/2` });
    expect((await outboxOf(world, post.id)).at(-1)).toMatchObject({ id: `start:post/${post.id}/2`, args: { operations: [{ operationId: again.operation_id }] } });
    await carriedOut(world, again.operation_id, 'published');
    expect(await read(post.id)).toMatchObject({ status: 'published', published_at: post.published_at });
  });

  test('a late success of the first attempt does not touch the second', async () => {
    const post = await ended('published', 'refused');
    await retry(post.id, {});
    expect(codeOf(await retry(post.id))).toEqual([409, 'POST_PUBLISHING']);
  });

  test('unknown ones are never sent again', async () => {
    const post = await ended('unknown', 'refused');
    const answer = await retry(post.id);
    expect([answer.status, ...statuses(answer.body)]).toEqual([200, 'failed', 'publishing']);
    expect(targetOf(answer.body, world.mastodon.id)).toMatchObject({ attempt: 1, operation_state: 'unknown' });
  });

  test('only unknown ones left: 409 with their operations', async () => {
    const post = await ended('unknown', 'published');
    const answer = await retry(post.id);
    expect([...codeOf(answer), answer.body.error.details]).toEqual([409, 'PROVIDER_OUTCOME_UNKNOWN', { operation_ids: [targetOf(post, world.mastodon.id).operation_id] }]);
  });

  test('nothing failed: 409 with the status', async () => {
    const draft = await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft' });
    const scheduled = await world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(600), content: 'x' });
    for (const post of [draft, scheduled, await ended('published', 'published')]) {
      const answer = await retry(post.id);
      expect([...codeOf(answer), answer.body.error.details.status]).toEqual([409, 'INVALID_STATE', post.status]);
    }
  });

  test('named targets, by account or target id', async () => {
    const post = await ended('refused', 'refused');
    const answer = await retry(post.id, { targets: [world.twitter.id, targetOf(post, world.twitter.id).target_id] });
    expect([answer.status, ...statuses(answer.body)]).toEqual([200, 'failed', 'publishing']);
  });

  test('a named target that is none of the post, published or unknown: nothing starts', async () => {
    const post = await ended('published', 'unknown');
    const [published, unknown] = [targetOf(post, world.mastodon.id).target_id, targetOf(post, world.twitter.id).target_id];
    expect(codeOf(await retry(post.id, { targets: [`pt_${'0'.repeat(32)}`] }))).toEqual([404, 'TARGET_NOT_FOUND']);
    expect(codeOf(await retry(post.id, { targets: ['nonsense', unknown] }))).toEqual([404, 'TARGET_NOT_FOUND']);
    const first = await retry(post.id, { targets: [published] });
    expect([...codeOf(first), first.body.error.details.target_ids]).toEqual([409, 'INVALID_STATE', [published]]);
    const second = await retry(post.id, { targets: [unknown] });
    expect([...codeOf(second), second.body.error.details.target_ids]).toEqual([409, 'PROVIDER_OUTCOME_UNKNOWN', [unknown]]);
    expect((await outboxOf(world, post.id)).filter((row) => row.workflowId.endsWith('/2'))).toEqual([]);
  });

  test('50 at once: one 200, the others POST_PUBLISHING', async () => {
    const post = await ended('refused', 'refused');
    const answers = await Promise.all(Array.from({ length: 50 }, () => retry(post.id)));
    expect(answers.map((one) => `${one.status} ${one.body.error?.code ?? ''}`).toSorted()).toEqual(['200 ', ...Array<string>(49).fill('409 POST_PUBLISHING')]);
    expect(await rows((tx) => tx.count(OperationEntity, { postId: post.id }))).toBe(4);
  });

  test('costs no unit, and waits when asked', async () => {
    const post = await ended('refused', 'refused');
    const answer = await retry(post.id, undefined, { prefer: 'wait=1' });
    expect([answer.status, answer.headers.get('x-usage-count'), answer.headers.get('preference-applied')]).toEqual([200, null, 'wait=1']);
  });

  test('what was too late is published now', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(60), content: 'x', catch_up: { max_lateness_seconds: 0, on_late: 'skip' } });
    await rows((tx) => beginPost(tx, { postId: post.id, seq: 1, now: new Date(Date.now() + 120_000) }));
    expect((await read(post.id)).targets[world.mastodon.id].error).toMatchObject({ code: 'SCHEDULE_MISSED', retryable: true });
    expect((await retry(post.id)).body.status).toBe('publishing');
  });
});

describe('DELETE /v1/posts/{id}', () => {
  const remove = (id: string) => world.send('DELETE', `/v1/posts/${id}`);
  const gone = async (id: string) => {
    expect(codeOf(await world.send('GET', `/v1/posts/${id}`))).toEqual([404, 'POST_NOT_FOUND']);
    expect(codeOf(await world.send('PATCH', `/v1/posts/${id}`, {}))).toEqual([404, 'POST_NOT_FOUND']);
    expect(codeOf(await retry(id))).toEqual([404, 'POST_NOT_FOUND']);
    expect(codeOf(await remove(id))).toEqual([404, 'POST_NOT_FOUND']);
    expect((await world.send('GET', '/v1/posts?limit=100')).body.data.map((one: any) => one.id)).not.toContain(id);
    const events = await rows((tx) => tx.find(EventEntity, { subjectId: id }, { orderBy: { sequence: 'asc' } }));
    expect(events.at(-1)!.event).toBe('post.deleted');
  };

  test('a draft', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft' });
    const answer = await remove(post.id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    await gone(post.id);
  });

  test('a scheduled post never goes out', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(60), content: 'x' });
    expect((await remove(post.id)).status).toBe(204);
    expect((await outboxOf(world, post.id)).map((row) => row.id)).toEqual([`cancel:post/${post.id}/1`]);
    expect(await rows((tx) => beginPost(tx, { postId: post.id, seq: 1, now: new Date(Date.now() + 120_000) }))).toEqual({ kind: 'superseded' });
    await gone(post.id);
  });

  test('publishing: what is pending is cancelled, what is being sent ends by itself', async () => {
    const post = await both();
    const { db } = world.api.infra;
    const [pending, sending] = [targetOf(post, world.mastodon.id).operation_id, targetOf(post, world.twitter.id).operation_id];
    const operation = await rows((tx) => tx.findOneOrFail(OperationEntity, { id: sending }));
    await claim(db, { operation, step: 'publish', plan: [{ name: 'publish', effect: 'public_unkeyed', required: true }], done: new Map(), now: new Date(), deadline: new Date(Date.now() + 60_000), pace: null });
    expect((await remove(post.id)).status).toBe(204);
    expect(await rows((tx) => tx.findOneOrFail(OperationEntity, { id: pending }))).toMatchObject({ status: 'failed', settledBy: 'service', error: { code: 'CANCELLED' } });
    expect(await rows((tx) => tx.findOneOrFail(OperationEntity, { id: sending }))).toMatchObject({ status: 'sending' });
    await expect(carriedOut(world, pending, 'published')).rejects.toThrow('the claim was not free');
    await gone(post.id);
  });

  test('ended, with an unknown outcome: hidden, and the operation stays open', async () => {
    const post = await ended('published', 'unknown');
    expect((await remove(post.id)).status).toBe(204);
    expect(await rows((tx) => tx.findOneOrFail(OperationEntity, { id: targetOf(post, world.twitter.id).operation_id }))).toMatchObject({ status: 'unknown', postId: post.id });
    await gone(post.id);
  });

  test('is repeated by its key', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft' });
    const once = () => world.send('DELETE', `/v1/posts/${post.id}`, undefined, { headers: { 'idempotency-key': 'delete-this-once' } });
    expect([(await once()).status, (await once()).status]).toEqual([204, 204]);
  });
});
