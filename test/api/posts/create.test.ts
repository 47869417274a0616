import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EventEntity } from '../../../infra/db/entities/event.entity.ts';
import { PostEntity } from '../../../infra/db/entities/post.entity.ts';
import { TargetEntity } from '../../../infra/db/entities/target.entity.ts';
import { TimelineEntryEntity } from '../../../infra/db/entities/timeline-entry.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization } from '../../support/factories.ts';
import { until } from '../../support/until.ts';
import { carriedOut, codeOf, inSeconds, openWorld, outboxOf, statuses, targetOf, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const rows = <T>(work: Parameters<typeof inScope<T>>[2]) => inScope(world.api.infra.db, SYSTEM, work);

describe('POST /v1/posts › now', () => {
  test('201 with Location, ETag and usage, post and targets publishing, an operation each', async () => {
    const answer = await world.post({ targets: ['mastodon', 'twitter'], scheduled_at: 'now', content: 'Hello\r\nthere' });
    expect(answer.status).toBe(201);
    const post = answer.body;
    expect(answer.headers.get('location')).toBe(`/v1/posts/${post.id}`);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.headers.get('x-usage-limit')).toBe('unlimited');
    expect(post).toMatchObject({ status: 'publishing', content: 'Hello\nthere', published_at: null, timezone: 'UTC', revision: 1, workspace_id: null, platforms: ['mastodon', 'twitter'], catch_up: { max_lateness_seconds: 86_400, on_late: 'hold' } });
    expect(Object.keys(post.targets)).toEqual([world.mastodon.id, world.twitter.id]);
    expect(targetOf(post, world.mastodon.id)).toMatchObject({ attempt: 1, operation_state: 'pending', delivery_state: 'queued' });
    expect((await world.send('GET', `/v1/posts/${post.id}`)).body).toEqual(post);
  });

  test('the outbox row names the operations, and gives the API a head start', async () => {
    const post = await world.accepted({ targets: [world.mastodon.id], scheduled_at: 'now', content: 'x' });
    const [row] = await outboxOf(world, post.id);
    const operationId = targetOf(post, world.mastodon.id).operation_id;
    expect(row).toMatchObject({ intent: 'start', workflowId: `post/${post.id}/1`, startAt: null, args: { postId: post.id, seq: 1, operations: [{ operationId, platform: 'mastodon', accountId: world.mastodon.id }] } });
    expect(row!.availableAt.getTime()).toBeGreaterThan(new Date(post.created_at).getTime());
  });

  test('what is published is frozen with each target: layers of text, options and media', async () => {
    const post = await world.accepted({
      targets: ['mastodon', 'twitter'], scheduled_at: 'now', content: 'shared', media: [{ url: 'https://a.example/a.png', alt_text: 'own' }, { url: 'https://a.example/b.jpg#x' }],
      target_options: { mastodon: { content: 'of the platform', visibility: 'unlisted', language: 'en' }, [world.mastodon.id]: { content: ' ', visibility: 'private', language: null, alt_texts: [null, 'second'] }, twitter: { media: [] } },
    });
    const targets = await rows((tx) => tx.find(TargetEntity, { postId: post.id }, { orderBy: { position: 'asc' } }));
    expect(targets[0]).toMatchObject({ text: 'of the platform', options: { visibility: 'private' }, media: [{ url: 'https://a.example/a.png', type: 'image', alt_text: 'own' }, { url: 'https://a.example/b.jpg', type: 'image', alt_text: 'second' }] });
    expect(targets[0]!.options).not.toHaveProperty('language');
    expect(targets[0]!.options).not.toHaveProperty('content');
    expect(targets[1]).toMatchObject({ text: 'shared', media: [] });
    expect(post.target_options.mastodon).toEqual({ content: 'of the platform', visibility: 'unlisted', language: 'en' });
    expect(post.media[1]).toEqual({ url: 'https://a.example/b.jpg', type: 'image', media_id: null, alt_text: null, mime_type: null, width: null, height: null, duration_ms: null, thumbnail: null });
  });

  test('created and its timeline are written with it', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: 'now', content: 'x' });
    const events = await rows((tx) => tx.find(EventEntity, { subjectId: post.id }, { orderBy: { sequence: 'asc' } }));
    expect(events.map((one) => [one.event, one.sequence])).toEqual([['post.created', 1]]);
    const notes = await rows((tx) => tx.find(TimelineEntryEntity, { postId: post.id }, { orderBy: { id: 'asc' } }));
    expect(notes.map((one) => one.type)).toEqual(expect.arrayContaining(['created', 'rendered', 'accepted']));
  });

  test('an event fits into a webhook, measured in bytes: one that would not leaves its targets out', async () => {
    const org = await organization(world.api.infra);
    const { secret: key } = await apiKey(world.api.infra, { organizationId: org.id });
    await Promise.all(Array.from({ length: 100 }, () => account(world.api.infra, { organizationId: org.id, platform: 'mastodon', displayName: '名'.repeat(60), username: '字'.repeat(30) })));
    const { status, body } = await world.post({ targets: ['mastodon'], scheduled_at: 'draft', content: '文'.repeat(500) }, { key });
    expect(status).toBe(201);
    const [event] = await rows((tx) => tx.find(EventEntity, { subjectId: body.id }));
    expect(event!.data).toMatchObject({ targets: null, truncated: true });
    expect(Buffer.byteLength(JSON.stringify(event!.data))).toBeLessThan(65_536);
  });

  test('a time that passed at most 300 s ago is due at once and keeps its instant', async () => {
    const given = inSeconds(-200);
    expect(await world.accepted({ targets: ['mastodon'], scheduled_at: given, content: 'x' })).toMatchObject({ status: 'publishing', scheduled_at: given });
  });
});

describe('POST /v1/posts › later and draft', () => {
  test('scheduled: targets scheduled, no operation, the workflow is to wait', async () => {
    const at = inSeconds(3_600);
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: at, content: 'x', notes: 'internal', catch_up: { on_late: 'publish' } });
    expect(post).toMatchObject({ status: 'scheduled', scheduled_at: at, notes: 'internal', catch_up: { max_lateness_seconds: 86_400, on_late: 'publish' } });
    expect(targetOf(post, world.mastodon.id)).toMatchObject({ attempt: 0, operation_id: null, operation_state: null, delivery_state: 'queued' });
    const [row] = await outboxOf(world, post.id);
    expect(row).toMatchObject({ intent: 'start', startAt: new Date(at), args: { postId: post.id, seq: 1 } });
    const events = await rows((tx) => tx.find(EventEntity, { subjectId: post.id }, { orderBy: { sequence: 'asc' } }));
    expect(events.map((one) => one.event)).toEqual(['post.created', 'post.scheduled']);
  });

  test('a wall time is kept beside its instant', async () => {
    const wall = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: wall, timezone: 'asia/tokyo', content: 'x' });
    expect(post).toMatchObject({ timezone: 'Asia/Tokyo', scheduled_at: new Date(Date.parse(`${wall}:00Z`) - 9 * 3_600_000).toISOString() });
    expect((await rows((tx) => tx.findOneOrFail(PostEntity, { id: post.id }))).wallTime).toBe(`${wall}:00.000`);
  });

  test('a draft may be empty, too long and without a time; nothing is rendered and nothing goes out', async () => {
    const post = await world.accepted({ targets: ['twitter'], scheduled_at: 'draft' });
    expect(post).toMatchObject({ status: 'draft', scheduled_at: null, content: null, media: null });
    expect(targetOf(post, world.twitter.id)).toMatchObject({ attempt: 0, delivery_state: null });
    expect(await outboxOf(world, post.id)).toEqual([]);
    expect((await world.post({ targets: ['twitter'], scheduled_at: 'draft', content: 'x'.repeat(5_000) })).status).toBe(201);
  });
});

describe('POST /v1/posts › Idempotency-Key', () => {
  test('the same key and bytes: one post, the same reply; other bytes or another route: reused', async () => {
    const headers = { 'idempotency-key': 'posts-same-key' };
    const body = { targets: ['mastodon'], scheduled_at: 'now', content: 'once' };
    const [first, second] = [await world.post(body, { headers }), await world.post(body, { headers })];
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(codeOf(await world.post({ ...body, content: 'twice' }, { headers }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(codeOf(await world.send('POST', `/v1/posts/${first.body.id}/retry`, body, { headers }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('100 at once: one post', async () => {
    const headers = { 'idempotency-key': 'posts-hundred' };
    const answers = await Promise.all(Array.from({ length: 100 }, () => world.post({ targets: ['mastodon'], scheduled_at: 'now', content: 'hundred at once' }, { headers })));
    expect(new Set(answers.map((one) => `${one.status} ${one.body.error?.code ?? ''}`))).toEqual(new Set(['201 ', '409 IDEMPOTENCY_IN_PROGRESS']));
    const posts = await rows((tx) => tx.find(PostEntity, { content: 'hundred at once' }));
    expect(posts).toHaveLength(1);
    expect(await outboxOf(world, posts[0]!.id)).toHaveLength(1);
  });

  test('a refusal keeps no key', async () => {
    const headers = { 'idempotency-key': 'posts-refused' };
    expect((await world.post({ targets: ['mastodon'], scheduled_at: 'now' }, { headers })).status).toBe(400);
    expect((await world.post({ targets: ['mastodon'], scheduled_at: 'now', content: 'x' }, { headers })).status).toBe(201);
  });
});

describe('POST /v1/posts › Prefer: wait', () => {
  test('waits until nothing is under way, and shows the post as it is then', async () => {
    const headers = { prefer: 'wait=20', 'idempotency-key': 'posts-waiting' };
    const body = { targets: ['mastodon'], scheduled_at: 'now', content: 'a post to wait for' };
    const waiting = world.post(body, { headers });
    const opened = await until('the operation was opened', () => rows(async (tx) => {
      const found = await tx.execute<{ id: string }[]>('select operation.id from operation join post on post.id = operation.post_id where post.content = ?', [body.content]);
      return found[0]?.id;
    }));
    await carriedOut(world, opened, 'published');
    const answer = await waiting;
    expect([answer.status, answer.body.status, answer.headers.get('preference-applied')]).toEqual([201, 'published', 'wait=20']);
    expect(answer.body.published_at).not.toBeNull();
    const replay = await world.post(body, { headers });
    expect([replay.body.status, replay.headers.get('preference-applied')]).toEqual(['publishing', null]);
  });

  test('gives up after N seconds', async () => {
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: 'now', content: 'x' }, { headers: { prefer: 'respond-async, wait=1' } });
    expect([answer.status, answer.body.status, answer.headers.get('preference-applied')]).toEqual([201, 'publishing', 'wait=1']);
  });

  test('is ignored where nothing is published', async () => {
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: 'draft' }, { headers: { prefer: 'wait=30' } });
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([201, null]);
  });

  test.each(['wait=31', 'wait=-1', 'wait=1.5', 'wait=x', 'wait='])('%s is 422', async (prefer) => {
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: 'draft' }, { headers: { prefer } });
    expect(codeOf(answer)).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.body.error.details.issues[0]).toMatchObject({ path: ['Prefer'], in: 'header' });
  });

  test.each([['PATCH', ''], ['POST', '/retry'], ['POST', '/duplicate']])('%s %s: a bad one is told with what is wrong in the body, before the post is looked for', async (method, path) => {
    const answer = await world.send(method, `/v1/posts/post_${'0'.repeat(32)}${path}`, { targets: [] }, { headers: { prefer: 'wait=31' } });
    expect([...codeOf(answer), answer.body.error.details.issues.map((issue: any) => [issue.code, issue.path, issue.in])]).toEqual([422, 'VALIDATION_ERROR', [['too_big', ['Prefer'], 'header'], ['too_small', ['targets'], 'body']]]);
  });
});

describe('POST /v1/posts › quota', () => {
  test('hard: the last unit is given, the next refused; what was refused costs nothing', async () => {
    const org = await organization(world.api.infra, { quotaMode: 'hard', quotaUnits: 2 });
    const key = (await apiKey(world.api.infra, { organizationId: org.id, mode: 'live' })).secret;
    await account(world.api.infra, { organizationId: org.id, mode: 'live', platform: 'mastodon' });
    const post = () => world.post({ targets: ['mastodon'], scheduled_at: 'draft' }, { key });
    expect((await post()).headers.get('x-usage-count')).toBe('1');
    expect((await world.post({ targets: ['nothing'], scheduled_at: 'draft' }, { key })).status).toBe(400);
    const last = await post();
    expect([last.headers.get('x-usage-count'), last.headers.get('x-usage-limit')]).toEqual(['2', '2']);
    const refused = await post();
    expect(codeOf(refused)).toEqual([403, 'QUOTA_EXCEEDED']);
    expect(refused.body.error.details).toMatchObject({ used: 2, limit: 2, requested: 1, resets_at: expect.stringMatching(/-01T00:00:00.000Z$/) });
    expect([refused.headers.get('x-usage-count'), refused.headers.get('x-should-retry')]).toEqual(['2', 'false']);
    const test = (await apiKey(world.api.infra, { organizationId: org.id })).secret;
    await account(world.api.infra, { organizationId: org.id, platform: 'mastodon' });
    expect((await world.post({ targets: ['mastodon'], scheduled_at: 'draft' }, { key: test })).headers.get('x-usage-limit')).toBe('unlimited');
  });

  test('20 at once over a limit of 5: five posts', async () => {
    const org = await organization(world.api.infra, { quotaMode: 'hard', quotaUnits: 5 });
    const key = (await apiKey(world.api.infra, { organizationId: org.id, mode: 'live' })).secret;
    await account(world.api.infra, { organizationId: org.id, mode: 'live', platform: 'mastodon' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.post({ targets: ['mastodon'], scheduled_at: 'draft' }, { key })));
    expect(answers.map((one) => one.status).toSorted()).toEqual([...Array<number>(5).fill(201), ...Array<number>(15).fill(403)]);
  });

  test('unlimited and metered count on', async () => {
    const org = await organization(world.api.infra, { quotaMode: 'metered', quotaUnits: 1 });
    const key = (await apiKey(world.api.infra, { organizationId: org.id, mode: 'live' })).secret;
    await account(world.api.infra, { organizationId: org.id, mode: 'live', platform: 'mastodon' });
    const counts: (string | null)[] = [];
    for (let at = 0; at < 3; at += 1) counts.push((await world.post({ targets: ['mastodon'], scheduled_at: 'draft' }, { key })).headers.get('x-usage-count'));
    expect(counts).toEqual(['1', '2', '3']);
  });
});

describe('modes and organizations', () => {
  test('a post of the other mode or organization does not exist', async () => {
    const post = await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft' });
    const live = (await apiKey(world.api.infra, { organizationId: world.org.id, mode: 'live' })).secret;
    const foreign = (await apiKey(world.api.infra, { organizationId: (await organization(world.api.infra)).id })).secret;
    for (const key of [live, foreign]) {
      for (const [method, path] of [['GET', ''], ['PATCH', ''], ['DELETE', ''], ['POST', '/retry'], ['GET', '/logs']] as const) {
        expect(codeOf(await world.send(method, `/v1/posts/${post.id}${path}`, method === 'PATCH' ? {} : undefined, { key }))).toEqual([404, 'POST_NOT_FOUND']);
      }
    }
    expect(codeOf(await world.post({ targets: [world.mastodon.id], scheduled_at: 'draft' }, { key: live }))).toEqual([400, 'INVALID_TARGETS']);
  });

  test('a malformed id is as unknown as an unknown one', async () => {
    for (const id of ['post_1', 'x', 'acc_00000000000000000000000000000000', `post_${'0'.repeat(32)}`, `POST_${'0'.repeat(32)}`]) {
      expect(codeOf(await world.send('GET', `/v1/posts/${id}`))).toEqual([404, 'POST_NOT_FOUND']);
    }
  });

  test('statuses of a mixed post', async () => {
    const post = await world.accepted({ targets: ['mastodon', 'twitter'], scheduled_at: 'now', content: 'x' });
    await carriedOut(world, targetOf(post, world.mastodon.id).operation_id, 'published');
    expect((await world.send('GET', `/v1/posts/${post.id}`)).body.status).toBe('publishing');
    await carriedOut(world, targetOf(post, world.twitter.id).operation_id, 'unknown');
    const { body } = await world.send('GET', `/v1/posts/${post.id}`);
    expect([body.status, ...statuses(body)]).toEqual(['partial', 'published', 'failed']);
    expect(body.targets[world.twitter.id].error).toMatchObject({ code: 'PROVIDER_OUTCOME_UNKNOWN', retryable: false });
  });
});
