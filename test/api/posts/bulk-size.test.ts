import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rowCounts } from './bulk-world.ts';
import { codeOf, inSeconds, openWorld, type World } from './world.ts';

let world: World;
let template: string;

beforeAll(async () => {
  world = await openWorld();
  template = (await world.send('POST', '/v1/content-templates', { name: 'Long', content: '{{part}}'.repeat(20) })).body.id;
}, 60_000);
afterAll(() => world?.close());

/** The shared text of each becomes one of 400,000 bytes; what is published is short. */
function posts(count: number): Record<string, unknown> {
  const one = (n: number) => ({ targets: [world.mastodon.id], scheduled_at: inSeconds(3_600 + n), template_id: template, template_variables: { part: '😀'.repeat(5_000) }, target_options: { mastodon: { content: `short ${n}` } } });
  return { posts: Array.from({ length: count }, (_, n) => one(n)) };
}

test.each([['with a key', { 'idempotency-key': 'more-than-can-be-kept' }], ['without one', {}]])('posts that no reply can show together are refused together, %s', async (_what, headers: Record<string, string>) => {
  const before = await rowCounts(world);
  const answer = await world.send('POST', '/v1/posts/bulk', posts(50), { headers });
  expect([codeOf(answer), answer.body.error.details.limit, answer.headers.get('x-should-retry')]).toEqual([[413, 'PAYLOAD_TOO_LARGE'], 16_777_216, 'false']);
  expect(await rowCounts(world)).toEqual(before);
});

test('the refusal leaves the key free, and what one reply can show is kept and shown again', async () => {
  const send = (body: Record<string, unknown>) => world.send('POST', '/v1/posts/bulk', body, { headers: { 'idempotency-key': 'as-much-as-can-be-kept' } });
  expect((await send(posts(50))).status).toBe(413);
  const fitting = posts(40);
  const first = await send(fitting);
  expect([first.status, first.body.summary]).toEqual([201, { total: 40, succeeded: 40, failed: 0 }]);
  const again = await send(fitting);
  expect([again.headers.get('idempotency-replayed'), again.text === first.text]).toEqual(['true', true]);
}, 30_000);
