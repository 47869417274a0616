import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { codeOf, inSeconds, openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const preflight = (body: Record<string, unknown>, options: { key?: string } = {}) => world.send('POST', '/v1/posts/preflight', body, options);
const plan = async (body: Record<string, unknown>) => {
  const answer = await preflight({ targets: [world.twitter.id], scheduled_at: inSeconds(3_600), content: 'x', ...body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
};
const codes = (body: any, severity?: string) => body.issues.filter((one: any) => severity === undefined || one.severity === severity).map((one: any) => one.code);
const stored = async () => (await inScope(world.api.infra.db, SYSTEM, (tx) => tx.execute<{ rows: string }[]>(
  "select concat_ws(' ', (select count(*) from post), (select count(*) from target), (select count(*) from event), (select count(*) from timeline_entry), (select count(*) from outbox), (select count(*) from operation), (select count(*) from receipt), (select sum(units) from usage_counter)) as rows")))[0]!.rows;

describe('the whole plan', () => {
  test('per account: text, its length by the platform\'s own counting, media, options, steps', async () => {
    const before = await stored();
    const body = await plan({
      targets: [world.twitter.id, world.mastodon.id], content: 'Look: https://example.com/a/very/long/address/that/counts/as/twenty-three 👩‍👩‍👧',
      media: [{ url: 'https://a.example/a.png', alt_text: 'A' }, { url: 'https://a.example/b', width: 1, height: 1 }],
      target_options: { mastodon: { content: 'toot', visibility: 'unlisted' } },
    });
    expect(body).toMatchObject({ valid: true, status: 'scheduled', unresolved: [], features: [], recycling: null, cross_post_actions: [], signature: null, quota: { units: 1, limit: null, allowed: true } });
    expect(body.accounts[0]).toMatchObject({
      account_id: world.twitter.id, platform: 'twitter', account_status: 'active', text_source: 'content', thread: null, duplicate: null,
      length: { value: 32, limit: 280, unit: 'weighted', per_url: 23 },
      media: [{ index: 0, type: 'image', checks: 'unknown' }, { index: 1, type: null, checks: 'unknown' }],
      steps: [{ name: 'media_upload_1', effect: 'private' }, { name: 'media_ready_1', effect: 'read' }, { name: 'media_metadata_1', effect: 'private' }, { name: 'media_upload_2', effect: 'private' }, { name: 'media_ready_2', effect: 'read' }, { name: 'publish', effect: 'public_unkeyed' }],
    });
    expect(body.accounts[1]).toMatchObject({ text: 'toot', text_source: 'target_options.platform', options: { visibility: 'unlisted' }, length: { value: 4, unit: 'graphemes' } });
    expect(body.accounts[1].expected_at).toBe(body.schedule.scheduled_at);
    expect(await stored()).toBe(before);
  });

  test('times: now, draft, a wall time with its zone, one in a gap of the clocks', async () => {
    expect((await plan({ scheduled_at: 'now' })).status).toBe('publishing');
    expect(await plan({ scheduled_at: 'draft' })).toMatchObject({ status: 'draft', schedule: { scheduled_at: null, local: null, source: 'draft', catch_up: { max_lateness_seconds: 86_400, on_late: 'hold' } } });
    const wall = inSeconds(86_400).slice(0, 16);
    const { schedule } = await plan({ scheduled_at: wall, timezone: 'asia/tokyo', catch_up: { on_late: 'skip' } });
    expect(schedule).toEqual({ scheduled_at: new Date(Date.parse(`${wall}Z`) - 9 * 3_600_000).toISOString(), local: `${wall}:00.000+09:00`, timezone: 'Asia/Tokyo', source: 'iso', auto_schedule: null, catch_up: { max_lateness_seconds: 86_400, on_late: 'skip' } });
    const past = await plan({ scheduled_at: inSeconds(-3_600) });
    expect([past.valid, codes(past, 'error')]).toEqual([false, ['SCHEDULED_AT_IN_PAST']]);
    expect(codes(await plan({ scheduled_at: inSeconds(31 * 86_400) }), 'error')).toEqual(['SCHEDULED_AT_TOO_FAR']);
  });

  test('auto: the slot and why; nothing is reserved, so the next one is told the same', async () => {
    const fresh = await account(world.api.infra, { organizationId: world.org.id, platform: 'mastodon' });
    const first = await plan({ targets: [fresh.id], scheduled_at: 'auto', content: 'auto' });
    const { auto_schedule: chosen } = first.schedule;
    expect(chosen).toMatchObject({ source: 'default', slot_at: first.schedule.scheduled_at, timezone: 'UTC', queue_id: null, minimum_gap_seconds: 1_800 });
    expect((await plan({ targets: [fresh.id], scheduled_at: 'auto', content: 'auto' })).schedule.scheduled_at).toBe(first.schedule.scheduled_at);
    const created = await world.accepted({ targets: [fresh.id], scheduled_at: 'auto', content: 'auto' });
    expect([created.status, created.scheduled_at, created.auto_schedule.slot_at]).toEqual(['scheduled', first.schedule.scheduled_at, first.schedule.scheduled_at]);
    const next = await plan({ targets: [fresh.id], scheduled_at: 'auto', content: 'auto again' });
    expect(next.schedule.scheduled_at).not.toBe(first.schedule.scheduled_at);
    const zoned = await world.send('PATCH', `/v1/posts/${created.id}`, { timezone: 'Asia/Tokyo' });
    expect(zoned.body.auto_schedule).toEqual(created.auto_schedule);
    expect((await preflight({ post_id: created.id })).body.schedule).toMatchObject({ source: 'auto', auto_schedule: created.auto_schedule });
    const moved = await world.send('PATCH', `/v1/posts/${created.id}`, { scheduled_at: inSeconds(3_600) });
    expect([moved.status, moved.body.auto_schedule]).toEqual([200, null]);
    const anew = await world.send('PATCH', `/v1/posts/${created.id}`, { scheduled_at: 'auto', timezone: 'UTC' });
    expect(anew.body.auto_schedule.slot_at).toBe(first.schedule.scheduled_at);
  });

  test('a queue whose slots are all taken: 409 with the figures, in preflight a finding', async () => {
    const ws = (await workspace(world.api.infra, { organizationId: world.org.id })).id;
    const own = await account(world.api.infra, { organizationId: world.org.id, workspaceId: ws, platform: 'mastodon' });
    const at = new Date(Date.now() + 2 * 86_400_000);
    const slot = { day_of_week: at.getUTCDay(), time: at.toISOString().slice(11, 16) };
    expect((await world.send('POST', '/v1/queue/slots', { slots: [slot], workspace_id: ws })).status).toBe(201);
    const body = { targets: [own.id], scheduled_at: 'auto', content: 'weekly' };
    const taken: string[] = [];
    for (let answer = await world.post(body); ; answer = await world.post({ ...body, content: `weekly ${taken.length}` })) {
      if (answer.status !== 201) {
        expect([...codeOf(answer), answer.body.error.details.blocked]).toEqual([409, 'NO_SLOT_AVAILABLE', taken.length]);
        break;
      }
      taken.push(answer.body.scheduled_at);
    }
    expect([new Set(taken).size, taken.length >= 4]).toEqual([taken.length, true]);
    expect(codes(await plan(body), 'error')).toEqual(['NO_SLOT_AVAILABLE']);
    expect(codes(await plan({ ...body, targets: [`acc_${'0'.repeat(32)}`] }), 'error')).toEqual(['ACCOUNT_NOT_FOUND']);
  });
});

describe('everything that speaks against it, at once, each with what to change', () => {
  test('targets, sources, rules and account states in one answer', async () => {
    const gone = await account(world.api.infra, { organizationId: world.org.id, status: 'disconnected', statusReason: 'by_user', disconnectedAt: new Date() });
    const body = await plan({
      targets: ['nowhere', 'linkedin', `acc_${'0'.repeat(32)}`, world.twitter.id, gone.id], content: 'y'.repeat(300), template_id: `tmpl_${'0'.repeat(32)}`, tag_ids: [`tag_${'0'.repeat(32)}`],
      media: [{ url: 'http://127.0.0.1/a.png' }],
    });
    expect(body.valid).toBe(false);
    expect(codes(body, 'error').toSorted()).toEqual(['ACCOUNT_DISCONNECTED', 'ACCOUNT_NOT_FOUND', 'CONTENT_TOO_LONG', 'CONTENT_TOO_LONG', 'INVALID_MEDIA_URL', 'INVALID_TARGET', 'NO_ACCOUNT', 'TAG_NOT_FOUND', 'TEMPLATE_NOT_FOUND']);
    expect(body.unresolved.map((one: any) => [one.target, one.code])).toEqual([['nowhere', 'INVALID_TARGET'], ['linkedin', 'NO_ACCOUNT'], [`acc_${'0'.repeat(32)}`, 'ACCOUNT_NOT_FOUND']]);
    for (const issue of body.issues) expect([issue.fix.length > 0, issue.message.length > 0]).toEqual([true, true]);
  });

  test.each([
    ['nothing to publish', { content: '' }, 'CONTENT_REQUIRED'],
    ['too long', { content: 'y'.repeat(281) }, 'CONTENT_TOO_LONG'],
    ['a rule of options', { target_options: { twitter: { poll: { options: ['a', 'b'], duration_minutes: 10 }, quote_tweet_id: '1' } } }, 'OPTION_CONFLICT'],
  ])('creation answers with the same rule: %s', async (_what, more, code) => {
    const body = { targets: [world.twitter.id], scheduled_at: 'now', content: 'x', ...more };
    const errors = (await plan(body)).issues.filter((one: any) => one.severity === 'error');
    expect(errors.map((one: any) => one.code)).toEqual([code]);
    const refused = await world.post(body);
    expect([400, 422]).toContain(refused.status);
    if (refused.body.error.code === 'PREFLIGHT_FAILED') expect(refused.body.error.details.issues).toEqual(errors);
    else expect(refused.body.error.code).toBe(code);
    // A draft may break them all; it is told so.
    const draft = await plan({ ...body, scheduled_at: 'draft' });
    expect([draft.valid, codes(draft, 'warning').includes(code)]).toEqual([true, true]);
  });

  test('the duplicate guard names the other post', async () => {
    const twin = await world.accepted({ targets: [world.twitter.id], scheduled_at: inSeconds(7_200), content: 'said before' });
    const body = await plan({ content: 'Said before' });
    expect(body.accounts[0].duplicate).toMatchObject({ post_id: twin.id, at: twin.scheduled_at });
    expect([body.valid, (await plan({ content: 'Said before', allow_duplicate: true })).valid]).toEqual([false, true]);
  });

  test('pacing and budget: when it would really go out', async () => {
    const slow = await account(world.api.infra, { organizationId: world.org.id, platform: 'mastodon', minGapSeconds: 3_600, dailyBudget: 2 });
    const at = inSeconds(7_200);
    await world.accepted({ targets: [slow.id], scheduled_at: at, content: 'first' });
    const second = await plan({ targets: [slow.id], scheduled_at: at, content: 'second' });
    expect([second.accounts[0].expected_at, second.accounts[0].expected_wait_reason]).toEqual([new Date(Date.parse(at) + 3_600_000).toISOString(), 'rate_budget']);
    expect(codes(second, 'warning')).toContain('PACING_DELAY');
    await world.accepted({ targets: [slow.id], scheduled_at: inSeconds(12_000), content: 'third' });
    const third = await plan({ targets: [slow.id], scheduled_at: inSeconds(30_000), content: 'fourth' });
    expect([third.accounts[0].expected_at, codes(third, 'warning').includes('RATE_BUDGET_EXHAUSTED')]).toEqual([null, true]);
  });

  test('quota: used up is an error, nearly used up a warning, and preflight costs nothing', async () => {
    const limited = (await organization(world.api.infra, { plan: 'free', quotaMode: 'hard', quotaUnits: 2 })).id;
    const live = await account(world.api.infra, { organizationId: limited, mode: 'live', platform: 'mastodon', metadata: { instance: 'https://mastodon.example' } });
    const key = (await apiKey(world.api.infra, { organizationId: limited, mode: 'live' })).secret;
    const body = { targets: [live.id], scheduled_at: inSeconds(3_600), content: 'x' };
    for (const used of [0, 1]) {
      expect((await preflight(body, { key })).body.quota).toEqual({ units: 1, used, limit: 2, allowed: true });
      expect((await world.post({ ...body, content: `n${used}` }, { key })).status).toBe(201);
    }
    const over = (await preflight(body, { key })).body;
    expect([over.quota.allowed, over.valid, codes(over, 'error')]).toEqual([false, false, ['QUOTA_EXCEEDED']]);
  });
});

describe('post_id: a draft or scheduled post with the body laid over it', () => {
  test('what the change would do, and nothing changes', async () => {
    const post = await world.accepted({ targets: [world.mastodon.id], scheduled_at: 'draft', content: 'base' });
    const over = await preflight({ post_id: post.id, scheduled_at: inSeconds(60), targets: [world.mastodon.id, world.twitter.id] });
    expect([over.status, over.body.status, over.body.content, over.body.accounts.length, over.body.quota.units]).toEqual([200, 'scheduled', 'base', 2, 0]);
    expect((await world.send('GET', `/v1/posts/${post.id}`)).body).toMatchObject({ status: 'draft', revision: 1 });
  });

  test('unknown, ended, another organization\'s', async () => {
    expect(codeOf(await preflight({ post_id: `post_${'0'.repeat(32)}` }))).toEqual([404, 'POST_NOT_FOUND']);
    const post = await world.accepted({ targets: [world.mastodon.id], scheduled_at: 'now', content: 'going' });
    expect(codeOf(await preflight({ post_id: post.id }))).toEqual([409, 'INVALID_STATE']);
    const stranger = (await apiKey(world.api.infra, { organizationId: (await organization(world.api.infra)).id })).secret;
    expect(codeOf(await preflight({ post_id: post.id }, { key: stranger }))).toEqual([404, 'POST_NOT_FOUND']);
  });
});

test('nothing of an archived workspace is changed or goes out', async () => {
  const ws = (await workspace(world.api.infra, { organizationId: world.org.id })).id;
  const own = await account(world.api.infra, { organizationId: world.org.id, workspaceId: ws, platform: 'mastodon' });
  const post = await world.accepted({ targets: [own.id], scheduled_at: 'draft', content: 'archived' });
  await inScope(world.api.infra.db, SYSTEM, (tx) => tx.execute("update workspace set status = 'archived' where id = ?", [ws]));
  for (const [method, path, body] of [['PATCH', '', { scheduled_at: 'now' }], ['PATCH', '', { content: 'x' }], ['PATCH', '/notes', { notes: 'x' }], ['POST', '/duplicate', {}]] as const) {
    expect(codeOf(await world.send(method, `/v1/posts/${post.id}${path}`, body))).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
  }
  expect(codes((await preflight({ post_id: post.id, scheduled_at: 'now' })).body, 'error')).toEqual(['WORKSPACE_NOT_ACTIVE']);
  expect((await world.send('DELETE', `/v1/posts/${post.id}`)).status).toBe(204);
});

test('a body that is none is 422, a read-only key may ask, a key of another workspace may not', async () => {
  expect((await preflight({})).body.error.details.issues.map((one: any) => [one.code, one.path])).toEqual([['required', ['targets']], ['required', ['scheduled_at']]]);
  expect(codeOf(await preflight({ targets: ['twitter'], scheduled_at: 'tomorrow' }))).toEqual([422, 'VALIDATION_ERROR']);
  const reader = (await apiKey(world.api.infra, { organizationId: world.org.id, permissions: ['read'] })).secret;
  expect((await preflight({ targets: [world.twitter.id], scheduled_at: 'now', content: 'x' }, { key: reader })).status).toBe(200);
  const [mine, other] = await Promise.all([workspace(world.api.infra, { organizationId: world.org.id }), workspace(world.api.infra, { organizationId: world.org.id })]);
  const inMine = await account(world.api.infra, { organizationId: world.org.id, workspaceId: mine.id });
  const outsider = (await apiKey(world.api.infra, { organizationId: world.org.id, workspaceScope: [other.id] })).secret;
  expect(codeOf(await preflight({ targets: [inMine.id], scheduled_at: 'now', content: 'x' }, { key: outsider }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
});
