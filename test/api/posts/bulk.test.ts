import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OrganizationEntity } from '../../../infra/db/entities/organization.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { codeOf, inSeconds, openWorld, statuses, type World } from './world.ts';
import { rowCounts, startsOf } from './bulk-world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const bulk = (posts: unknown, options: { key?: string; headers?: Record<string, string> } = {}) => world.send('POST', '/v1/posts/bulk', { posts }, options);
const draft = (more: Record<string, unknown> = {}) => ({ targets: [world.mastodon.id], scheduled_at: 'draft', content: 'x', ...more });
const due = (more: Record<string, unknown> = {}) => ({ targets: [world.mastodon.id], scheduled_at: 'now', content: `due ${randomUUID()}`, ...more });
const codes = (body: any): (string | null)[] => body.data.map((one: any) => one.error?.code ?? null);

describe('POST /v1/posts/bulk', () => {
  test('posts of every kind, in order, each as create shows it', async () => {
    const posts = [draft({ notes: 'first' }), { targets: ['twitter', 'mastodon'], scheduled_at: inSeconds(3_600), content: 'later' }, due(), draft({ content: 'with an option', target_options: { twitter: { reply_settings: 'following' } }, targets: [world.twitter.id] })];
    const answer = await bulk(posts);
    expect([answer.status, answer.body.summary]).toEqual([201, { total: 4, succeeded: 4, failed: 0 }]);
    expect(answer.body.data.map((post: any) => [post.index, post.status])).toEqual([[0, 'draft'], [1, 'scheduled'], [2, 'publishing'], [3, 'draft']]);
    expect(answer.body.data.map(statuses)).toEqual([['draft'], ['scheduled', 'scheduled'], ['publishing'], ['draft']]);
    for (const [index, post] of answer.body.data.entries()) expect({ index, ...(await world.send('GET', `/v1/posts/${post.id}`)).body }).toEqual(post);
    expect(answer.headers.get('x-usage-limit')).toBe('unlimited');
  });

  test('refused ones among good ones carry what create would say, and leave nothing behind', async () => {
    const bad: unknown[] = [
      draft({ targets: [] }), '"no object"', null, [1], draft({ sheduled_at: 'now' }), { content: 'x' },
      due({ targets: ['acc_unknown'] }), due({ content: '' }), due({ targets: [world.twitter.id], content: 'x'.repeat(300) }), due({ target_options: { mastodon: { visibility: 'nobody' } } }),
      due({ media: [{ url: 'http://127.0.0.1/a.png' }] }), due({ tag_ids: [`tag_${'0'.repeat(32)}`] }), due({ idea_id: 'idea_1' }), due({ scheduled_at: inSeconds(31 * 86_400) }),
    ];
    const before = await rowCounts(world);
    const one = await bulk([draft()]);
    const oneMore = await rowCounts(world);
    const answer = await bulk([...bad.slice(0, 7), draft(), ...bad.slice(7)]);
    const after = await rowCounts(world);
    expect(codes(one.body)).toEqual([null]);
    expect([answer.status, answer.body.summary]).toEqual([201, { total: 15, succeeded: 1, failed: 14 }]);
    const growth = (from: Record<string, number>, to: Record<string, number>) => Object.fromEntries(Object.keys(to).map((table) => [table, to[table]! - from[table]!]));
    expect(growth(oneMore, after)).toEqual(growth(before, oneMore));
    const alone = await Promise.all(bad.map(async (post) => (await world.send('POST', '/v1/posts', post)).body.error));
    const refused = answer.body.data.filter((item: any) => item.error !== undefined);
    expect(refused.map((item: any) => item.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14]);
    expect(refused.map((item: any) => item.error.code)).toEqual(alone.map((error) => error.code));
    expect(refused.map((item: any) => item.error.details)).toEqual(alone.map((error) => error.details));
    for (const item of refused) expect(Object.keys(item).toSorted()).toEqual(['error', 'index', 'status']);
  });

  test('what no part of a body may hold refuses its own post only', async () => {
    const answer = await world.send('POST', '/v1/posts/bulk', `{"posts":[{"targets":["${world.mastodon.id}"],"scheduled_at":"draft","__proto__":{"content":"x"}},{"targets":["${world.mastodon.id}"],"scheduled_at":"draft","content":"a\\u0000b"},{"targets":["${world.mastodon.id}"],"scheduled_at":"draft","content":"good"}]}`);
    expect(answer.body.data.map((item: any) => item.error?.details.issues.map((issue: any) => [issue.code, issue.path]) ?? null)).toEqual([[['unrecognized_keys', ['__proto__']]], [['invalid_string', ['content']]], null]);
  });

  test('all refused is 201 too', async () => {
    const answer = await bulk([{}, 7]);
    expect([answer.status, codes(answer.body), answer.body.summary]).toEqual([201, ['VALIDATION_ERROR', 'VALIDATION_ERROR'], { total: 2, succeeded: 0, failed: 2 }]);
  });

  test('1 to 50 posts, in a list, and nothing beside it', async () => {
    expect((await bulk(Array.from({ length: 50 }, () => draft()))).body.summary).toEqual({ total: 50, succeeded: 50, failed: 0 });
    const envelopes: [unknown, unknown[]][] = [
      [{ posts: Array.from({ length: 51 }, () => draft()) }, [['too_big', 'posts']]], [{ posts: [] }, [['too_small', 'posts']]], [{}, [['required', 'posts']]], [{ posts: {} }, [['invalid_type', 'posts']]], [{ posts: null }, [['invalid_type', 'posts']]],
      [{ posts: [draft()], dry_run: true }, [['unrecognized_keys', 'dry_run']]], [[], [['invalid_type', '']]], ['{"posts":[{}],"__proto__":1}', [['unrecognized_keys', '__proto__']]],
    ];
    const before = await rowCounts(world);
    for (const [body, issues] of envelopes) {
      const answer = await world.send('POST', '/v1/posts/bulk', body);
      expect([...codeOf(answer), answer.body.error.details.issues.map((issue: any) => [issue.code, issue.path.join('.')])]).toEqual([422, 'VALIDATION_ERROR', issues]);
    }
    expect(await rowCounts(world)).toEqual(before);
  });

  test('earlier posts of the same request count for the duplicate guard', async () => {
    const same = due({ targets: [world.twitter.id] });
    expect(codes((await bulk([same, same, { ...same, allow_duplicate: true }])).body)).toEqual([null, 'PREFLIGHT_FAILED', null]);
  });

  test('Prefer is ignored', async () => {
    const answer = await bulk([due()], { headers: { prefer: 'wait=30' } });
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([201, null]);
    expect((await bulk([due()], { headers: { prefer: 'wait=1000' } })).status).toBe(201);
  });

  test('a workspace that is unknown, not granted or archived refuses the whole', async () => {
    const [granted, other, archived] = await Promise.all(['active', 'active', 'archived'].map((status) => workspace(world.api.infra, { organizationId: world.org.id, status: status as 'active' })));
    const key = (await apiKey(world.api.infra, { organizationId: world.org.id, workspaceScope: [granted!.id, archived!.id] })).secret;
    const own = await account(world.api.infra, { organizationId: world.org.id, platform: 'mastodon', workspaceId: granted!.id });
    const before = await rowCounts(world);
    const post = { targets: [own.id], scheduled_at: 'draft', workspace_id: granted!.id };
    for (const [workspaceId, expected] of [[`ws_${'0'.repeat(32)}`, [404, 'NOT_FOUND']], ['nothing', [404, 'NOT_FOUND']], ['', [404, 'NOT_FOUND']], ['\0', [404, 'NOT_FOUND']], [other!.id, [403, 'WORKSPACE_ACCESS_DENIED']], [archived!.id, [409, 'WORKSPACE_NOT_ACTIVE']]] as const) {
      expect(codeOf(await bulk([post, { targets: 7, workspace_id: workspaceId }], { key }))).toEqual(expected);
    }
    expect(await rowCounts(world)).toEqual(before);
    const answer = await bulk([post, { ...post, workspace_id: 7 }, { ...post, targets: [world.mastodon.id] }], { key });
    expect(codes(answer.body)).toEqual([null, 'VALIDATION_ERROR', 'WORKSPACE_ACCESS_DENIED']);
  });

  test('a fault of the service stores nothing of it', async () => {
    const before = await rowCounts(world);
    const database = world.api.infra.db.em.getConnection();
    await database.execute(`set role oncepost_owner; alter table oncepost.post add constraint marked check (content <> 'break here') not valid; reset role`);
    const answer = await bulk([draft(), draft({ content: 'break here' }), draft()], { headers: { 'idempotency-key': 'a-fault-of-the-service' } });
    await database.execute('set role oncepost_owner; alter table oncepost.post drop constraint marked; reset role');
    expect(codeOf(answer)).toEqual([500, 'INTERNAL_ERROR']);
    expect(await rowCounts(world)).toEqual(before);
  });
});

describe('units', () => {
  const limited = async (units: number) => {
    const org = await organization(world.api.infra, { quotaMode: 'hard', quotaUnits: units });
    const live = await account(world.api.infra, { organizationId: org.id, mode: 'live', platform: 'mastodon' });
    const key = (await apiKey(world.api.infra, { organizationId: org.id, mode: 'live' })).secret;
    return { org, key, post: { targets: [live.id], scheduled_at: 'draft', content: 'x' } };
  };

  test('what is stored counts 1, what is refused nothing; what does not fit is refused one by one', async () => {
    const { key, post } = await limited(3);
    const answer = await bulk([post, { ...post, targets: ['nobody'] }, post, {}, post, post, post], { key });
    expect(codes(answer.body)).toEqual([null, 'INVALID_TARGETS', null, 'VALIDATION_ERROR', null, 'QUOTA_EXCEEDED', 'QUOTA_EXCEEDED']);
    expect(answer.body.data[5].error.details).toMatchObject({ used: 3, limit: 3, requested: 1 });
    expect([answer.headers.get('x-usage-count'), answer.headers.get('x-usage-limit')]).toEqual(['3', '3']);
  });

  test('where none fits the whole is 403, and the key stays free', async () => {
    const { org, key, post } = await limited(1);
    await bulk([post], { key });
    const headers = { 'idempotency-key': 'none-fits-of-these' };
    const answer = await bulk([post, {}, post], { key, headers });
    expect([...codeOf(answer), answer.body.error.details]).toEqual([403, 'QUOTA_EXCEEDED', { used: 1, limit: 1, resets_at: expect.any(String), requested: 2 }]);
    expect([answer.headers.get('x-usage-count'), answer.headers.get('x-usage-limit')]).toEqual(['1', '1']);
    await inScope(world.api.infra.db, SYSTEM, (tx) => tx.nativeUpdate(OrganizationEntity, { id: org.id }, { quotaUnits: 3 }));
    const again = await bulk([post, {}, post], { key, headers });
    expect([codes(again.body), again.headers.get('idempotency-replayed')]).toEqual([[null, 'VALIDATION_ERROR', null], 'false']);
    expect((await bulk([{}], { key })).status).toBe(201);
  });

  test('requests at once take no unit too many and never wait for each other for ever', async () => {
    const { key, post } = await limited(40);
    const answers = await Promise.all(Array.from({ length: 6 }, () => bulk(Array.from({ length: 10 }, () => post), { key })));
    const outcomes = answers.flatMap((answer) => (answer.status === 201 ? codes(answer.body) : Array.from({ length: 10 }, () => answer.body.error.code)));
    expect([outcomes.filter((code) => code === null).length, outcomes.filter((code) => code === 'QUOTA_EXCEEDED').length]).toEqual([40, 20]);
    const free = await Promise.all(Array.from({ length: 6 }, () => bulk(Array.from({ length: 10 }, () => draft()))));
    expect(free.map((answer) => answer.body.summary?.succeeded)).toEqual([10, 10, 10, 10, 10, 10]);
  });
});

describe('the whole is one request', () => {
  test('a replay is the first reply, byte for byte, and stores nothing', async () => {
    const headers = { 'idempotency-key': 'a-bulk-replayed' };
    const posts = [due(), {}, draft()];
    const first = await bulk(posts, { headers });
    const before = await rowCounts(world);
    const again = await bulk(posts, { headers });
    expect([again.status, again.headers.get('idempotency-replayed'), again.text]).toEqual([201, 'true', first.text]);
    expect(await rowCounts(world)).toEqual(before);
    expect(codeOf(await bulk(posts.slice(0, 2), { headers }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('100 simultaneous requests with one key: one executes', async () => {
    const headers = { 'idempotency-key': 'a-hundred-bulks' };
    const before = await rowCounts(world);
    const posts = [due(), draft(), {}];
    const answers = await Promise.all(Array.from({ length: 100 }, () => bulk(posts, { headers })));
    const after = await rowCounts(world);
    expect([after.post! - before.post!, after.outbox! - before.outbox!, after.receipt! - before.receipt!]).toEqual([2, 1, 1]);
    const created = answers.filter((answer) => answer.status === 201);
    expect(new Set(created.map((answer) => answer.text)).size).toBe(1);
    for (const answer of answers.filter((one) => one.status !== 201)) expect(codeOf(answer)).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
  });

  test('a replay shows no workspace that the credential has lost', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => workspace(world.api.infra, { organizationId: world.org.id })));
    const own = await Promise.all([one!, two!].map(({ id }) => account(world.api.infra, { organizationId: world.org.id, platform: 'mastodon', workspaceId: id })));
    const scoped = await apiKey(world.api.infra, { organizationId: world.org.id, workspaceScope: [one!.id, two!.id] });
    const options = { key: scoped.secret, headers: { 'idempotency-key': 'a-lost-workspace' } };
    const posts = own.map(({ id }) => ({ targets: [id], scheduled_at: 'draft' }));
    expect((await bulk(posts, options)).body.summary.succeeded).toBe(2);
    await inScope(world.api.infra.db, SYSTEM, (tx) => tx.execute('update api_key set workspace_scope = array[?]::text[] where id = ?', [[one!.id], scoped.id]));
    expect(codeOf(await bulk(posts, options))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
  });
});

describe('pace', () => {
  const GAP_MS = 100;
  const gaps = (times: number[]) => times.slice(1).map((at, index) => at - times[index]!);

  test('posts that are due start in order, a tenth of a second apart, at priority 4', async () => {
    const begun = Date.now();
    const answer = await bulk([due(), draft(), due(), { ...due(), scheduled_at: inSeconds(60) }, {}, { ...due(), scheduled_at: inSeconds(-60) }]);
    const ids = [0, 2, 5].map((index) => answer.body.data[index].id);
    const starts = await startsOf(world, ids);
    expect(starts.map((row) => [row.priority, row.startAt])).toEqual(ids.map(() => [4, null]));
    expect(gaps(starts.map((row) => row.availableAt.getTime()))).toEqual([GAP_MS, GAP_MS]);
    expect(starts[0]!.availableAt.getTime()).toBeGreaterThan(begun);
    const [later] = await startsOf(world, [answer.body.data[3].id]);
    expect(later).toMatchObject({ priority: 3, startAt: new Date(answer.body.data[3].scheduled_at) });
  });

  test('requests at once share the pace of their organization; another organization has its own', async () => {
    const org = await organization(world.api.infra);
    const [key, own] = [(await apiKey(world.api.infra, { organizationId: org.id })).secret, await account(world.api.infra, { organizationId: org.id, platform: 'mastodon' })];
    const answers = await Promise.all([1, 2, 3, 4].map(() => bulk([due(), due(), due(), due(), due()])));
    const begun = Date.now();
    const other = await bulk([{ ...due(), targets: [own.id] }], { key });
    const starts = await startsOf(world, answers.flatMap((answer) => answer.body.data.map((post: any) => post.id)));
    const times = starts.map((row) => row.availableAt.getTime()).toSorted((a, b) => a - b);
    expect(Math.min(...gaps(times))).toBeGreaterThanOrEqual(GAP_MS);
    for (const answer of answers) {
      const mine = await startsOf(world, answer.body.data.map((post: any) => post.id));
      expect(gaps(mine.map((row) => row.availableAt.getTime()))).toEqual([GAP_MS, GAP_MS, GAP_MS, GAP_MS]);
    }
    const [first] = await startsOf(world, [other.body.data[0].id]);
    expect(first!.availableAt.getTime()).toBeLessThan(Math.max(begun + 5_000, times[5]!));
  });

  test('a post that cannot begin has no start', async () => {
    const org = await organization(world.api.infra);
    const key = (await apiKey(world.api.infra, { organizationId: org.id })).secret;
    const broken = await account(world.api.infra, { organizationId: org.id, platform: 'mastodon', status: 'reconnect_required', statusReason: 'token_revoked' });
    const answer = await bulk([due({ targets: ['mastodon'] })], { key });
    expect(answer.body.data[0].targets[broken.id].error.code).toBe('ACCOUNT_RECONNECT_REQUIRED');
    expect(await startsOf(world, [answer.body.data[0].id])).toEqual([]);
  });
});
