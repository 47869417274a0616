import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { account, apiKey, workspace } from '../../support/factories.ts';
import { formBytes, formType } from '../../support/form.ts';
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

describe('a file whose rows reach more accounts than one transaction can hold', () => {
  let ids: string[];

  beforeAll(async () => {
    ids = await Promise.all(Array.from({ length: 21 }, async () => (await account(world.api.infra, { organizationId: world.org.id, platform: 'mastodon' })).id));
  });

  const send = (targets: string, { query = '', key = world.key } = {}) => world.api.send('POST', `/v1/posts/bulk-csv${query}`, {
    key, headers: { 'content-type': formType() },
    body: formBytes([{ name: 'file', fileName: 'posts.csv', type: 'text/csv', content: ['targets,scheduled_at,content', ...Array<string>(500).fill(`${targets},draft,x`)].join('\n') }]),
  });

  test.each([['accounts by their ids', () => ids.join(';'), 10_500], ['all of a platform', () => 'mastodon', 11_000], ['both', () => `mastodon;${ids[0]}`, 11_500]])('%s: refused before the first row, and so is its rehearsal', async (_what, targets, reached) => {
    const before = await rowCounts(world);
    for (const query of ['', '?dry_run=true']) {
      const answer = await send(targets(), { query });
      expect([codeOf(answer), answer.body.error.details]).toEqual([[400, 'CSV_TOO_MANY_ROWS'], { limit: 10_000, targets: reached }]);
    }
    expect(await rowCounts(world)).toEqual(before);
  });

  test('accounts that the credential may not use are not counted', async () => {
    const [mine, other] = await Promise.all([0, 1].map(() => workspace(world.api.infra, { organizationId: world.org.id })));
    await Promise.all(Array.from({ length: 22 }, () => account(world.api.infra, { organizationId: world.org.id, platform: 'mastodon', workspaceId: other!.id })));
    const { secret } = await apiKey(world.api.infra, { organizationId: world.org.id, workspaceScope: [mine!.id] });
    for (const [targets, code] of [[other!.id, 'WORKSPACE_ACCESS_DENIED'], ['mastodon', 'INVALID_TARGETS']] as const) {
      const { status, body } = await send(targets, { key: secret, query: '?dry_run=true' });
      expect([status, body.summary.failed, body.data[0].error.code]).toEqual([200, 500, code]);
    }
  });

  test('the most that one file may reach is stored', async () => {
    const answer = await send(ids.slice(0, 20).join(';'));
    expect([answer.status, answer.body.summary]).toMatchObject([201, { succeeded: 500, failed: 0 }]);
  }, 60_000);
});
