import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventEntity } from '../../../infra/db/entities/event.entity.ts';
import { TargetEntity } from '../../../infra/db/entities/target.entity.ts';
import { TimelineEntryEntity } from '../../../infra/db/entities/timeline-entry.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { beginPost } from '../../../infra/ledger/begin.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { carriedOut, codeOf, inSeconds, openWorld, outboxOf, statuses, targetOf, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const rows = <T>(work: Parameters<typeof inScope<T>>[2]) => inScope(world.api.infra.db, SYSTEM, work);
const patch = (id: string, body: Record<string, unknown>, headers: Record<string, string> = {}) => world.send('PATCH', `/v1/posts/${id}`, body, { headers });
const draft = (more: Record<string, unknown> = {}) => world.accepted({ targets: ['mastodon'], scheduled_at: 'draft', content: 'one', ...more });
const scheduled = (more: Record<string, unknown> = {}) => world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(3_600), content: 'one', ...more });
const events = async (id: string) => (await rows((tx) => tx.find(EventEntity, { subjectId: id }, { orderBy: { sequence: 'asc' } }))).map((one) => one.event);

describe('PATCH /v1/posts/{id} › fields', () => {
  test('{} and what is stored already change nothing', async () => {
    const post = await scheduled();
    expect((await patch(post.id, {})).body).toEqual(post);
    expect((await patch(post.id, { content: 'one', targets: ['mastodon'], scheduled_at: post.scheduled_at, timezone: 'utc', notes: null, media: null, target_options: null, catch_up: null })).body).toEqual(post);
    expect((await outboxOf(world, post.id)).map((row) => row.id)).toEqual([`start:post/${post.id}/1`]);
  });

  test('absent keeps, a value replaces, null clears', async () => {
    const post = await draft({ notes: 'n', media: [{ url: 'https://a.example/a.png' }], target_options: { twitter: { content: 'x' } }, timezone: 'Asia/Tokyo', catch_up: { max_lateness_seconds: 5, on_late: 'skip' } });
    const changed = await patch(post.id, { content: 'two', target_options: { mastodon: { visibility: 'private' } }, catch_up: { on_late: 'publish' } });
    expect(changed.body).toMatchObject({ content: 'two', notes: 'n', media: [{ url: 'https://a.example/a.png' }], target_options: { mastodon: { visibility: 'private' } }, timezone: 'Asia/Tokyo', catch_up: { max_lateness_seconds: 86_400, on_late: 'publish' }, revision: 2 });
    const cleared = await patch(post.id, { content: null, notes: null, media: null, target_options: null, timezone: null, catch_up: null });
    expect(cleared.body).toMatchObject({ content: null, notes: null, media: null, target_options: null, timezone: 'UTC', catch_up: { max_lateness_seconds: 86_400, on_late: 'hold' }, revision: 3 });
    expect((await patch(post.id, { media: [] })).body.media).toEqual([]);
  });

  test('targets replace the set; who stays keeps its target id and place follows the request', async () => {
    const post = await scheduled({ targets: ['mastodon', 'twitter'] });
    const third = await account(world.api.infra, { organizationId: world.org.id, platform: 'mastodon' });
    const changed = (await patch(post.id, { targets: [world.twitter.id, third.id] })).body;
    expect(Object.keys(changed.targets)).toEqual([world.twitter.id, third.id]);
    expect(targetOf(changed, world.twitter.id).target_id).toBe(targetOf(post, world.twitter.id).target_id);
    expect((await world.send('GET', `/v1/posts/${post.id}`)).body).toEqual(changed);
    expect(statuses(changed)).toEqual(['scheduled', 'scheduled']);
    await rows((tx) => tx.execute('update account set status = ?, status_reason = ? where id = ?', ['disconnected', 'test', third.id]));
  });

  test('content of a scheduled post is frozen anew', async () => {
    const post = await scheduled();
    await patch(post.id, { content: 'two' });
    expect(await rows((tx) => tx.findOneOrFail(TargetEntity, { postId: post.id }))).toMatchObject({ text: 'two', status: 'scheduled' });
  });

  test('a broken rule or a bad target leaves everything as it was', async () => {
    const post = await scheduled({ targets: ['twitter'] });
    expect(codeOf(await patch(post.id, { content: 'x'.repeat(300) }))).toEqual([422, 'PREFLIGHT_FAILED']);
    expect(codeOf(await patch(post.id, { targets: ['tiktok'] }))).toEqual([400, 'INVALID_TARGETS']);
    expect(codeOf(await patch(post.id, { content: null }))).toEqual([400, 'CONTENT_REQUIRED']);
    expect((await world.send('GET', `/v1/posts/${post.id}`)).body).toEqual(post);
  });

  test('events and timeline tell what changed', async () => {
    const post = await draft();
    await patch(post.id, { content: 'two', notes: 'n' });
    await patch(post.id, { scheduled_at: inSeconds(600) });
    await patch(post.id, { notes: 'm' });
    await patch(post.id, { scheduled_at: inSeconds(1_200) });
    expect(await events(post.id)).toEqual(['post.created', 'post.updated', 'post.updated', 'post.scheduled', 'post.updated', 'post.updated', 'post.scheduled']);
    const [first] = await rows((tx) => tx.find(EventEntity, { subjectId: post.id, event: 'post.updated' }, { orderBy: { sequence: 'asc' } }));
    expect(first!.data.changed).toEqual(['content', 'notes']);
    const notes = await rows((tx) => tx.find(TimelineEntryEntity, { postId: post.id, type: 'updated' }, { orderBy: { id: 'asc' } }));
    expect(notes[0]!.data).toEqual({ fields: ['content', 'notes'], revision: 2 });
  });
});

describe('PATCH › all fields are given and one is another: only that one is told', () => {
  const TIME = inSeconds(7_200);
  const ALL = {
    content: 'one', media: [{ url: 'https://a.example/a.png' }], target_options: { twitter: { content: 'own' } }, timezone: 'UTC', targets: ['mastodon', 'twitter'], scheduled_at: TIME,
    template_id: null, template_variables: {}, skip_signature: false, shorten_urls: false, notes: 'n', catch_up: { max_lateness_seconds: 5, on_late: 'skip' }, tag_ids: [],
  };

  test.each(Object.entries({
    content: 'two', media: [], target_options: null, timezone: 'Asia/Tokyo', targets: ['twitter'], scheduled_at: inSeconds(7_300), template_variables: { name: 'x' },
    skip_signature: true, notes: null, catch_up: { max_lateness_seconds: 5, on_late: 'hold' },
  }))('%s', async (name, value) => {
    const { id } = await world.accepted(ALL);
    const all = { ...ALL, allow_duplicate: true };
    expect((await patch(id, all)).headers.get('etag')).toBe('"1"');
    expect((await patch(id, { ...all, [name]: value })).headers.get('etag')).toBe('"2"');
    expect((await world.send('GET', `/v1/posts/${id}/timeline?kind=updated`)).body.data.map((one: any) => one.data.fields)).toEqual([[name]]);
    // What was written is what was compared.
    expect((await patch(id, { ...all, [name]: value })).headers.get('etag')).toBe('"2"');
  });
});

describe('PATCH › revision', () => {
  test.each([
    ['expected_revision', (n: number) => [{ expected_revision: n }, {}]],
    ['If-Match', (n: number) => [{}, { 'if-match': `"${n}"` }]],
  ] as const)('%s: stale is 409 and says the current one', async (_name, give) => {
    const post = await draft();
    const [body, headers] = give(1) as [object, Record<string, string>];
    expect((await patch(post.id, { ...body, content: 'two' }, headers)).headers.get('etag')).toBe('"2"');
    const stale = await patch(post.id, { ...body, content: 'three' }, headers);
    expect([...codeOf(stale), stale.body.error.details.current_revision]).toEqual([409, 'REVISION_CONFLICT', 2]);
  });

  test('* is any; both and different is 400; nonsense is 422', async () => {
    const post = await draft();
    expect((await patch(post.id, { content: 'two' }, { 'if-match': '*' })).status).toBe(200);
    expect(codeOf(await patch(post.id, { expected_revision: 2 }, { 'if-match': '"1"' }))).toEqual([400, 'BAD_REQUEST']);
    expect((await patch(post.id, { expected_revision: 2 }, { 'if-match': '"2"' })).status).toBe(200);
    expect(codeOf(await patch(post.id, {}, { 'if-match': 'W/"2"' }))).toEqual([422, 'VALIDATION_ERROR']);
  });

  test('of ten at once with one revision exactly one is taken', async () => {
    const post = await draft();
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => patch(post.id, { content: `by ${at}`, expected_revision: 1 })));
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, ...Array<number>(9).fill(409)]);
  });
});

describe('PATCH › time', () => {
  test('draft becomes scheduled, with a workflow of its own', async () => {
    const post = await draft();
    const at = inSeconds(600);
    const changed = (await patch(post.id, { scheduled_at: at })).body;
    expect(changed).toMatchObject({ status: 'scheduled', scheduled_at: at, revision: 2 });
    expect(await outboxOf(world, post.id)).toMatchObject([{ id: `start:post/${post.id}/2`, startAt: new Date(at), args: { seq: 2 } }]);
  });

  test('scheduled to another time: the old workflow is cancelled, the new one waits', async () => {
    const post = await scheduled();
    await patch(post.id, { scheduled_at: inSeconds(600) });
    expect((await outboxOf(world, post.id)).map((row) => row.id)).toEqual([`cancel:post/${post.id}/1`, `start:post/${post.id}/2`]);
  });

  test('scheduled becomes draft, and nothing goes out', async () => {
    const post = await scheduled();
    const changed = (await patch(post.id, { scheduled_at: 'draft' })).body;
    expect(changed).toMatchObject({ status: 'draft', scheduled_at: null });
    expect((await outboxOf(world, post.id)).map((row) => row.id)).toEqual([`cancel:post/${post.id}/1`]);
    expect(await rows((tx) => beginPost(tx, { postId: post.id, seq: 1, now: new Date(Date.now() + 7_200_000) }))).toEqual({ kind: 'superseded' });
  });

  test.each([['draft', draft], ['scheduled', scheduled]])('%s to now: publishing, with operations', async (_status, make) => {
    const post = await make();
    const changed = (await patch(post.id, { scheduled_at: 'now' })).body;
    expect(changed.status).toBe('publishing');
    expect(targetOf(changed, world.mastodon.id)).toMatchObject({ attempt: 1, operation_state: 'pending' });
    const start = (await outboxOf(world, post.id)).find((row) => row.intent === 'start');
    expect(start).toMatchObject({ workflowId: `post/${post.id}/2`, startAt: null, args: { operations: [{ accountId: world.mastodon.id }] } });
  });

  test('a wall time moves with the zone, an instant does not', async () => {
    const wall = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 16);
    const walled = await scheduled({ scheduled_at: wall, timezone: 'Europe/Berlin' });
    const tokyo = new Date(Date.parse(`${wall}:00Z`) - 9 * 3_600_000).toISOString();
    expect((await patch(walled.id, { timezone: 'Asia/Tokyo' })).body).toMatchObject({ timezone: 'Asia/Tokyo', scheduled_at: tokyo });
    const instant = await scheduled();
    expect((await patch(instant.id, { timezone: 'Asia/Tokyo' })).body).toMatchObject({ timezone: 'Asia/Tokyo', scheduled_at: instant.scheduled_at });
  });

  test('a new wall time is read in the stored zone', async () => {
    const wall = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 16);
    const post = await draft({ timezone: 'Asia/Tokyo' });
    expect((await patch(post.id, { scheduled_at: wall })).body.scheduled_at).toBe(new Date(Date.parse(`${wall}:00Z`) - 9 * 3_600_000).toISOString());
  });

  test('a zone in which the wall time has passed', async () => {
    const wall = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16);
    const post = await scheduled({ scheduled_at: wall });
    const answer = await patch(post.id, { timezone: 'Pacific/Kiritimati' });
    expect([...codeOf(answer), answer.body.error.details.issues[0].code]).toEqual([422, 'VALIDATION_ERROR', 'too_small']);
  });
});

describe('PATCH › a time that is stored already', () => {
  const WALL = { timezone: 'Asia/Tokyo', scheduled_at: new Date(Date.now() + 9 * 3_600_000 + 900_000).toISOString().slice(0, 19) };
  let clocks: World;
  let behindMs = 0;
  beforeAll(async () => {
    clocks = await openWorld({ clock: { now: () => new Date(Date.now() + behindMs) } });
  });
  afterAll(() => clocks.close());

  /** A post that was to go out half an hour ago, and that nobody has begun. */
  const overdue = async (more: object = {}) => {
    behindMs = 0;
    const post = await clocks.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(900), content: 'one', ...more });
    behindMs = 2_700_000;
    return post;
  };
  const patched = (id: string, body: object) => clocks.send('PATCH', `/v1/posts/${id}`, body);

  test('of an overdue post changes nothing, as it is shown, in another offset, or as the wall time that it was', async () => {
    const post = await overdue();
    const inTokyo = `${new Date(Date.parse(post.scheduled_at) + 9 * 3_600_000).toISOString().slice(0, -1)}+09:00`;
    for (const scheduled_at of [post.scheduled_at, inTokyo]) expect((await patched(post.id, { scheduled_at })).body).toEqual(post);
    const walled = await overdue(WALL);
    for (const scheduled_at of [walled.scheduled_at, WALL.scheduled_at]) expect((await patched(walled.id, { scheduled_at })).body).toEqual(walled);
  });

  test('goes with a change of something else', async () => {
    const { id, scheduled_at } = await overdue();
    const changed = await patched(id, { scheduled_at, content: 'two' });
    expect([changed.status, changed.body.content, changed.body.status, changed.body.scheduled_at, changed.body.revision]).toEqual([200, 'two', 'scheduled', scheduled_at, 2]);
    expect((await clocks.send('POST', '/v1/posts/preflight', { post_id: id, scheduled_at })).body).toMatchObject({ valid: true, schedule: { scheduled_at } });
  });

  test('any other that has passed is still refused', async () => {
    const { id, scheduled_at } = await overdue();
    const answer = await patched(id, { scheduled_at: new Date(Date.parse(scheduled_at) + 1).toISOString() });
    expect([...codeOf(answer), answer.body.error.details.issues[0].code]).toEqual([422, 'VALIDATION_ERROR', 'too_small']);
  });

  test('as it is shown it is still a wall time, which moves with the zone', async () => {
    behindMs = 0;
    const { id, scheduled_at } = await clocks.accepted({ targets: ['mastodon'], content: 'one', ...WALL });
    expect((await patched(id, { scheduled_at, content: 'two' })).status).toBe(200);
    const moved = await patched(id, { timezone: 'Asia/Shanghai' });
    expect(moved.body.scheduled_at).toBe(new Date(Date.parse(scheduled_at) + 3_600_000).toISOString());
    const { body } = await patched(id, { timezone: 'UTC', scheduled_at: moved.body.scheduled_at });
    expect([body.timezone, body.scheduled_at]).toEqual(['UTC', moved.body.scheduled_at]);
  });

  test('of a post that goes out meanwhile: the state answers', async () => {
    behindMs = 0;
    const post = await clocks.accepted({ targets: ['mastodon'], scheduled_at: 'now', content: 'one' });
    behindMs = 2_700_000;
    expect(codeOf(await patched(post.id, { scheduled_at: post.scheduled_at }))).toEqual([409, 'POST_PUBLISHING']);
  });
});

describe('PATCH › state', () => {
  test('publishing, failed, partial and published posts are not changed', async () => {
    const post = await world.accepted({ targets: ['mastodon', 'twitter'], scheduled_at: 'now', content: 'x' });
    const publishing = await patch(post.id, { content: 'y' });
    expect([...codeOf(publishing), publishing.body.error.details]).toEqual([409, 'POST_PUBLISHING', { status: 'publishing', revision: 1 }]);
    await carriedOut(world, targetOf(post, world.mastodon.id).operation_id, 'published');
    await carriedOut(world, targetOf(post, world.twitter.id).operation_id, 'refused');
    const partial = await patch(post.id, { notes: 'y' });
    expect([...codeOf(partial), partial.body.error.details]).toEqual([409, 'INVALID_STATE', { status: 'partial' }]);
  });

  test('PATCH and the start of publishing: whoever commits first wins', async () => {
    const post = await scheduled();
    const begun = rows((tx) => beginPost(tx, { postId: post.id, seq: 1, now: new Date(Date.now() + 3_700_000) }));
    const answer = await patch(post.id, { content: 'two' });
    const outcome = await begun;
    expect([answer.status, outcome.kind]).toEqual(answer.status === 200 ? [200, 'superseded'] : [409, 'begun']);
  });

  test('a held post is scheduled again without its reason', async () => {
    const post = await scheduled({ catch_up: { max_lateness_seconds: 0 } });
    await rows((tx) => beginPost(tx, { postId: post.id, seq: 1, now: new Date(Date.now() + 7_200_000) }));
    expect((await world.send('GET', `/v1/posts/${post.id}`)).body).toMatchObject({ status: 'draft', hold_reason: 'late', scheduled_at: null });
    expect((await patch(post.id, { scheduled_at: inSeconds(600) })).body).toMatchObject({ status: 'scheduled', hold_reason: null });
  });

  test('to now with an account that has to be reconnected', async () => {
    const { infra } = world.api;
    const org = (await organization(infra)).id;
    const key = (await apiKey(infra, { organizationId: org })).secret;
    const broken = await account(infra, { organizationId: org, platform: 'mastodon', status: 'reconnect_required', statusReason: 'token_revoked' });
    await account(infra, { organizationId: org, platform: 'twitter' });
    const post = (await world.post({ targets: [broken.id], scheduled_at: 'draft', content: 'x' }, { key })).body;
    const send = (body: object) => world.send('PATCH', `/v1/posts/${post.id}`, body, { key });
    expect(codeOf(await send({ scheduled_at: 'now' }))).toEqual([409, 'ACCOUNT_RECONNECT_REQUIRED']);
    const { body } = await send({ scheduled_at: 'now', targets: ['mastodon', 'twitter'] });
    expect([body.status, ...statuses(body)]).toEqual(['publishing', 'failed', 'publishing']);
    expect((await world.send('GET', `/v1/posts/${post.id}`, undefined, { key })).body).toEqual(body);
  });

  describe('an account that was reached through its platform and has to be reconnected since', () => {
    const brokenSince = async (more: object) => {
      const { infra } = world.api;
      const org = (await organization(infra)).id;
      const key = (await apiKey(infra, { organizationId: org })).secret;
      const broken = await account(infra, { organizationId: org, platform: 'mastodon' });
      const { id: well } = await account(infra, { organizationId: org, platform: 'twitter' });
      const post = (await world.post({ targets: ['mastodon', well], scheduled_at: 'draft', content: 'x', ...more }, { key })).body;
      await rows((tx) => tx.execute('update account set status = ?, status_reason = ? where id = ?', ['reconnect_required', 'token_revoked', broken.id]));
      return { broken: broken.id, well, post, send: (body: object) => world.send('PATCH', `/v1/posts/${post.id}`, body, { key }) };
    };

    test.each([['draft', 'draft'], ['scheduled', inSeconds(3_600)]])('of a %s post: to now it fails alone', async (_status, scheduled_at) => {
      const { send } = await brokenSince({ scheduled_at });
      expect((await send({ content: 'y' })).status).toBe(200);
      const { status, body } = await send({ scheduled_at: 'now' });
      expect([status, body.status, ...statuses(body)]).toEqual([200, 'publishing', 'failed', 'publishing']);
    });

    test.each([['draft', 'draft'], ['scheduled', inSeconds(3_600)]])('of a %s post, the only one: the post has failed', async (_status, scheduled_at) => {
      const { post, broken, send } = await brokenSince({ targets: ['mastodon'], scheduled_at });
      const { body } = await send({ scheduled_at: 'now' });
      expect([body.status, body.targets[broken].error.code]).toEqual(['failed', 'ACCOUNT_RECONNECT_REQUIRED']);
      expect((await events(post.id)).slice(-2)).toEqual(['post.updated', 'post.failed']);
    });

    test('named by its id meanwhile it was meant: 409', async () => {
      const { broken, well, send } = await brokenSince({});
      expect((await send({ targets: [broken, well] })).status).toBe(200);
      expect(codeOf(await send({ scheduled_at: 'now' }))).toEqual([409, 'ACCOUNT_RECONNECT_REQUIRED']);
      expect((await send({ targets: ['mastodon', well], scheduled_at: 'now' })).status).toBe(200);
    });
  });

  test('a workspace that was given stays; one that was derived follows the targets', async () => {
    const { infra } = world.api;
    const org = (await organization(infra)).id;
    const key = (await apiKey(infra, { organizationId: org })).secret;
    const [a, b] = [(await workspace(infra, { organizationId: org })).id, (await workspace(infra, { organizationId: org })).id];
    const inA = await account(infra, { organizationId: org, platform: 'mastodon', workspaceId: a });
    const inB = await account(infra, { organizationId: org, platform: 'mastodon', workspaceId: b });
    const make = async (more: object) => (await world.post({ targets: [inA.id], scheduled_at: 'draft', ...more }, { key })).body.id;
    const derived = await world.send('PATCH', `/v1/posts/${await make({})}`, { targets: [inB.id] }, { key });
    expect(derived.body.workspace_id).toBe(b);
    const given = await world.send('PATCH', `/v1/posts/${await make({ workspace_id: a })}`, { targets: [inB.id] }, { key });
    expect(codeOf(given)).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
  });
});
