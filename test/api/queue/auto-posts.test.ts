import { expect, test } from '@jest/globals';
import { postRoutes } from '../../../api/resources/posts/posts.routes.ts';
import { account } from '../../support/factories.ts';
import { codeOf, useQueueWorld, type Home, type QueueWorld } from './world.ts';

let world: QueueWorld;
let home: Home;
useQueueWorld((opened, own) => {
  [world, home] = [opened, own];
}, postRoutes);

const DAY_MS = 86_400_000;
const tomorrow = () => new Date(Date.now() + DAY_MS);
const accounts = (count: number) => Promise.all(Array.from({ length: count }, () => account(world.api.infra, { organizationId: home.organizationId, platform: 'twitter' })));
const auto = (targets: string[], content: string) => home.send('POST', '/v1/posts', { targets, content, scheduled_at: 'auto' });

test('posts that ask for a slot at once share out those that there are, and the rest is told that there is none', async () => {
  await home.schedule({ slots: [{ day_of_week: tomorrow().getUTCDay(), time: '12:00' }] });
  const { data } = (await home.send('GET', '/v1/queue/preview')).body;
  const answers = await Promise.all((await accounts(8)).map(({ id }) => auto([id], `post to ${id}`)));
  const [taken, refused] = [answers.filter(({ status }) => status === 201), answers.filter(({ status }) => status !== 201)];
  expect(taken.map(({ body }) => body.scheduled_at).sort()).toEqual(data.map((slot: any) => slot.slot_at));
  for (const answer of refused) {
    expect(codeOf(answer)).toEqual([409, 'NO_SLOT_AVAILABLE']);
    expect(answer.body.error.details).toMatchObject({ candidates: data.length, blocked: data.length, source: 'queue_slot' });
  }
  const preview = (await home.send('GET', '/v1/queue/preview')).body;
  expect(preview.slots).toEqual([]);
  expect(preview.data.map((slot: any) => slot.taken_by).sort()).toEqual(taken.map(({ body }) => body.id).sort());
  expect(codeOf(await home.send('GET', '/v1/queue/next'))).toEqual([404, 'NO_SLOT']);
});

test('a post that is deleted or planned anew leaves its slot to the next', async () => {
  await home.schedule({ slots: [{ day_of_week: tomorrow().getUTCDay(), time: '12:00' }] });
  const [one] = await accounts(1);
  const [first, second] = [(await auto([one!.id], 'first')).body, (await auto([one!.id], 'second')).body];
  expect(second.scheduled_at > first.scheduled_at).toBe(true);
  await home.send('DELETE', `/v1/posts/${first.id}`);
  expect((await home.send('PATCH', `/v1/posts/${second.id}`, { scheduled_at: 'auto' })).body.scheduled_at).toBe(first.scheduled_at);
  expect((await auto([one!.id], 'third')).body.scheduled_at).toBe(second.scheduled_at);
});

test('a change of the schedule moves no post', async () => {
  const { id } = await home.schedule({ slots: [{ day_of_week: tomorrow().getUTCDay(), time: '12:00' }] });
  const [one] = await accounts(1);
  const post = (await auto([one!.id], 'stays')).body;
  await home.send('PATCH', `/v1/queue/slots/${id}`, { slots: [{ day_of_week: tomorrow().getUTCDay(), time: '13:00' }] });
  await home.send('DELETE', `/v1/queue/slots/${id}`);
  expect((await home.send('GET', `/v1/posts/${post.id}`)).body).toEqual(post);
});

test('many posts to one account without a queue are placed apart by the gap of the platform', async () => {
  const [one] = await accounts(1);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => auto([one!.id], `number ${index}`)));
  const times = answers.map(({ body }) => Date.parse(body.scheduled_at)).sort((a, b) => a - b);
  expect(times.slice(1).every((time, index) => time - times[index]! >= 1_800_000)).toBe(true);
});

test('many in one request and single ones at the same time, on the same accounts in any order, do not wait for each other for ever', async () => {
  const ids = (await accounts(4)).map(({ id }) => id);
  const bulk = (order: string[], name: string) => home.send('POST', '/v1/posts/bulk', { posts: order.map((id) => ({ targets: [id], content: `${name} ${id}`, scheduled_at: 'auto' })) });
  const bulks = Promise.all([ids, ids.toReversed(), ids, ids.toReversed()].map((order, index) => bulk(order, `bulk ${index}`)));
  const singles = Promise.all(Array.from({ length: 8 }, (_, index) => auto([ids[index % 4]!], `single ${index}`)));
  expect((await bulks).map(({ status, body }) => [status, body.summary])).toEqual(Array.from({ length: 4 }, () => [201, { total: 4, succeeded: 4, failed: 0 }]));
  expect((await singles).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
});
