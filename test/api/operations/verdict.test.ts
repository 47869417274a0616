import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import { EventEntity } from '../../../infra/db/entities/event.entity.ts';
import { PostEntity } from '../../../infra/db/entities/post.entity.ts';
import { OutboxEntity } from '../../../infra/db/entities/outbox.entity.ts';
import { VerdictEntity } from '../../../infra/db/entities/verdict.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { endLateOperation } from '../../../infra/ledger/late.ts';
import { startApi, type Answer, type TestApi } from '../../support/api.ts';
import { account, apiKey, organization, workspace, type TestKey } from '../../support/factories.ts';
import { addStep, read, sendingAttempt, settleAttempt, stepOf, unknownAttempt, type Attempt } from '../../support/operations.ts';

let api: TestApi;
let key: TestKey;
let twitter: Account;
let mastodon: Account;

beforeAll(async () => {
  api = await startApi();
  const { id } = await organization(api.infra);
  key = await apiKey(api.infra, { organizationId: id });
  twitter = await account(api.infra, { organizationId: id });
  mastodon = await account(api.infra, { organizationId: id, platform: 'mastodon' });
});
afterAll(async () => {
  await api.close();
});

const POSITIVE = { outcome: 'published', platform_post_id: '1811', reason: 'Seen on the profile.' };
const NEGATIVE = { outcome: 'not_published', reason: 'Not on the profile.' };

function give(attempt: Attempt, body: Record<string, unknown>, more: { key?: string; headers?: Record<string, string> } = {}): Promise<Answer> {
  return api.send('POST', `/v1/operations/${attempt.operation.id}/verdict`, { key: more.key ?? key.secret, body: { expected_revision: attempt.operation.revision, ...body }, headers: more.headers });
}
const again = (attempt: Attempt) => read(api.infra, { post: attempt.post.id, target: attempt.target.id, operation: attempt.operation.id }, attempt.token);
const rowsOf = (attempt: Attempt) => inScope(api.infra.db, SYSTEM, (tx) => tx.find(VerdictEntity, { operationId: attempt.operation.id }));
const issues = (answer: Answer) => answer.body.error.details.issues.map((issue: any) => [issue.code, issue.path.join('.')]);

describe('POST /v1/operations/{id}/verdict', () => {
  test('published: settles operation, target and post in one transaction, and tells of it', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const url = `${api.infra.config.baseUrl}/sandbox/p/twitter/1811`;
    const { status, body } = await give(attempt, { ...POSITIVE, url, reason: '  Seen on the profile.  ' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'succeeded', settled_by: 'verdict', revision: attempt.operation.revision + 1, probing: 'none', next_probe_at: null, error: null, provider_post_id: '1811',
      result: { platform_post_id: '1811', url, items: [{ step: 'publish', platform_post_id: '1811', url }] },
      verdict: { outcome: 'published', platform_post_id: '1811', url, reason: 'Seen on the profile.', state: 'applied', actor: { type: 'api_key', id: key.id, name: 'test' }, expected_revision: attempt.operation.revision },
    });
    expect(body.verdict.applied_at).toBe(body.settled_at);
    expect(body.unknown_since).toBe(attempt.operation.unknownSince!.toISOString());
    expect(body.timeline.map((entry: any) => entry.type)).toEqual(expect.arrayContaining(['verdict_given', 'settled', 'event_emitted', 'subject_updated']));
    expect(body.timeline.find((entry: any) => entry.type === 'verdict_given').actor).toEqual({ type: 'api_key', id: key.id });
    const after = await again(attempt);
    expect(after.target).toMatchObject({ status: 'published', platformPostId: '1811', url, error: null });
    expect(after.post.status).toBe('published');
    const [event] = await inScope(api.infra.db, SYSTEM, (tx) => tx.find(EventEntity, { subjectId: attempt.operation.id, event: 'operation.resolved' }));
    expect(event!.data).toMatchObject({ settled_by: 'verdict', verdict_id: body.verdict.id });
    expect(await inScope(api.infra.db, SYSTEM, (tx) => tx.count(OutboxEntity, { id: `wake:reconcile/${attempt.operation.id}` }))).toBe(1);
  });

  test('not_published: fails the target, and leaves two safety reads', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const before = Date.now();
    const { status, body } = await give(attempt, NEGATIVE);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'failed', settled_by: 'verdict', probing: 'none', error: { code: 'VERDICT_DID_NOT_HAPPEN', retryable: true, step: 'publish' }, result: null });
    expect(Date.parse(body.next_probe_at) - before).toBeGreaterThanOrEqual(3_599_000);
    expect(Date.parse(body.next_probe_at) - before).toBeLessThan(3_700_000);
    expect(body.steps[0]).toMatchObject({ state: 'refused', progress: 'body_sent' });
    expect((await again(attempt)).target).toMatchObject({ status: 'failed', error: { code: 'VERDICT_DID_NOT_HAPPEN', retryable: true, operation_id: attempt.operation.id } });
  });

  test('not_published where nothing can be read leaves no read', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter, probing: 'unavailable' });
    expect((await give(attempt, NEGATIVE)).body).toMatchObject({ status: 'failed', next_probe_at: null });
  });

  test('published with required public steps to come: the step is done, the rest remains', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    await addStep(api.infra, attempt.operation, { name: 'publish_2', position: 1 });
    const { body } = await give(attempt, POSITIVE);
    expect(body).toMatchObject({ status: 'failed', partial: true, settled_by: 'verdict', error: { code: 'STEPS_REMAINING', retryable: true }, verdict: { outcome: 'published' } });
    expect(await stepOf(api.infra, attempt.operation.id, 'publish')).toMatchObject({ state: 'done', providerId: '1811' });
  });

  test('happened and did_not_happen are taken and shown as the kind says', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    expect((await give(attempt, { ...POSITIVE, outcome: 'happened' })).body.verdict.outcome).toBe('published');
  });

  test.each([
    [{ outcome: 'maybe' }, ['invalid_value', 'outcome']],
    [{ reason: '   ' }, ['too_small', 'reason']],
    [{ reason: 'x'.repeat(2001) }, ['too_big', 'reason']],
    [{ reason: 5 }, ['invalid_type', 'reason']],
    [{ expected_revision: 0 }, ['too_small', 'expected_revision']],
    [{ expected_revision: '3' }, ['invalid_type', 'expected_revision']],
    [{ platform_post_id: '' }, ['too_small', 'platform_post_id']],
    [{ platform_post_id: 'x'.repeat(2049) }, ['too_big', 'platform_post_id']],
    [{ url: 'not an address' }, ['invalid_string', 'url']],
    [{ url: 'ftp://x.com/a' }, ['invalid_string', 'url']],
    [{ supersedes: 'ver_1' }, ['invalid_string', 'supersedes']],
    [{ outcom: 'published' }, ['unrecognized_keys', 'outcom']],
  ])('422 for $#', async (change, issue) => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const answer = await give(attempt, { ...POSITIVE, ...change });
    expect([answer.status, issues(answer)]).toEqual([422, [issue]]);
    expect((await again(attempt)).operation.status).toBe('unknown');
  });

  test('422 names every missing field', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const answer = await api.send('POST', `/v1/operations/${attempt.operation.id}/verdict`, { key: key.secret });
    expect([answer.status, issues(answer)]).toEqual([422, [['required', 'outcome'], ['required', 'reason'], ['required', 'expected_revision']]]);
  });

  test.each([
    ['published without id and address', { outcome: 'published', reason: 'r' }, ['required', 'platform_post_id']],
    ['an address of somebody else', { outcome: 'published', reason: 'r', url: 'https://example.com/1811' }, ['invalid_value', 'url']],
    ['an address without an id', { outcome: 'published', reason: 'r', url: 'https://x.com/sandbox' }, ['required', 'platform_post_id']],
    ['id and address of two posts', { ...POSITIVE, url: 'https://x.com/sandbox/status/1812' }, ['custom', 'platform_post_id']],
    ['not_published with an id', { ...NEGATIVE, platform_post_id: '1' }, ['custom', 'platform_post_id']],
    ['not_published with an address', { ...NEGATIVE, url: 'https://x.com/a/status/1' }, ['custom', 'url']],
  ])('422 for %s', async (_name, body, issue) => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const answer = await give(attempt, body);
    expect([answer.status, issues(answer)]).toEqual([422, [issue]]);
  });

  test('the address alone is enough where the id is in it', async () => {
    const attempt = await unknownAttempt(api.infra, { account: mastodon });
    const url = `${api.infra.config.baseUrl}/sandbox/p/mastodon/11700`;
    expect((await give(attempt, { outcome: 'published', reason: 'r', url })).body.result).toMatchObject({ platform_post_id: '11700', url });
  });

  test('live accounts: only https addresses of the platform or of the instance', async () => {
    const live = await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' });
    const own = await account(api.infra, { organizationId: key.organizationId, platform: 'mastodon', mode: 'live', metadata: { instance_url: 'https://social.example' } });
    const attempt = await unknownAttempt(api.infra, { account: own });
    const refused = ['http://social.example/@me/1', 'https://other.example/@me/1', `${api.infra.config.baseUrl}/sandbox/p/mastodon/1`];
    for (const url of refused) expect(issues(await give(attempt, { ...POSITIVE, platform_post_id: '1', url }, { key: live.secret }))).toEqual([['invalid_value', 'url']]);
    expect((await give(attempt, { outcome: 'published', reason: 'r', url: 'https://social.example/@me/1' }, { key: live.secret })).body.result.platform_post_id).toBe('1');
  });

  test('an id that the operation already knows needs no repetition and admits no other', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    await inScope(api.infra.db, SYSTEM, (tx) => tx.execute('update step set provider_id = ? where operation_id = ?', ['77', attempt.operation.id]));
    expect(issues(await give(attempt, POSITIVE))).toEqual([['custom', 'platform_post_id']]);
    expect((await give(attempt, { outcome: 'published', reason: 'r' })).body.result.platform_post_id).toBe('77');
  });

  test('403 without the permission, 404 for another organization and mode, 403 for another workspace', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const weak = await apiKey(api.infra, { organizationId: key.organizationId, permissions: ['read', 'write'] });
    const foreign = await apiKey(api.infra);
    const live = await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' });
    const { id } = await workspace(api.infra, { organizationId: key.organizationId });
    const scoped = await apiKey(api.infra, { organizationId: key.organizationId, workspaceScope: [id] });
    const codes = [];
    for (const { secret } of [weak, foreign, live, scoped]) {
      const { status, body } = await give(attempt, POSITIVE, { key: secret });
      codes.push([status, body.error.code]);
    }
    expect(codes).toEqual([[403, 'FORBIDDEN'], [404, 'NOT_FOUND'], [404, 'NOT_FOUND'], [403, 'WORKSPACE_ACCESS_DENIED']]);
  });
});

describe('conflicts of verdicts (23.8.2)', () => {
  const conflict = (answer: Answer) => [answer.status, answer.body.error.code, answer.headers.get('x-should-retry'), answer.headers.get('retry-after')];

  test('sending: 409 OPERATION_NOT_UNKNOWN', async () => {
    const attempt = await sendingAttempt(api.infra, { account: twitter });
    const answer = await give(attempt, POSITIVE);
    expect(conflict(answer)).toEqual([409, 'OPERATION_NOT_UNKNOWN', 'false', null]);
    expect(answer.body.error.details).toEqual({ status: 'sending' });
  });

  test('settled by an answer that agrees: 200, unchanged, no row', async () => {
    const attempt = await sendingAttempt(api.infra, { account: twitter });
    await settleAttempt(api.infra, attempt, { kind: 'succeeded', proof: { platformPostId: '1811', url: null } });
    const { status, body } = await give(attempt, { ...POSITIVE, expected_revision: 1 });
    expect([status, body.settled_by, body.verdict]).toEqual([200, 'answer', null]);
    expect(await rowsOf(attempt)).toEqual([]);
  });

  test.each([['the other outcome', NEGATIVE], ['another id', { ...POSITIVE, platform_post_id: '9' }]])('settled by an answer, and %s: 409', async (_name, body) => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    await settleAttempt(api.infra, attempt, { kind: 'succeeded', proof: { platformPostId: '1811', url: null } });
    const answer = await give(attempt, body);
    expect(conflict(answer)).toEqual([409, 'VERDICT_CONFLICT', 'false', null]);
    expect(answer.body.error.details).toEqual({ status: 'succeeded', settled_by: 'late_answer', platform_post_id: '1811' });
  });

  test('the same verdict again: 200, one row, whoever sends it and with whatever reason and revision', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const other = await apiKey(api.infra, { organizationId: key.organizationId });
    const first = await give(attempt, POSITIVE);
    const second = await give(attempt, { ...POSITIVE, reason: 'Me too.', expected_revision: 9 }, { key: other.secret });
    expect([second.status, second.body.verdict.id]).toEqual([200, first.body.verdict.id]);
    expect(await rowsOf(attempt)).toHaveLength(1);
  });

  test('a different verdict without supersedes: 409 that names the one in force', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const { body: { verdict } } = await give(attempt, POSITIVE);
    const answer = await give(attempt, NEGATIVE);
    expect(conflict(answer)).toEqual([409, 'VERDICT_CONFLICT', 'false', null]);
    expect(answer.body.error.details).toEqual({ verdict_id: verdict.id, outcome: 'published', actor: verdict.actor, created_at: verdict.created_at });
  });

  test('supersedes: 409 not_current', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const answer = await give(attempt, { ...POSITIVE, supersedes: `ver_${'0'.repeat(32)}` });
    expect([answer.status, answer.body.error.code, answer.body.error.details.reason]).toEqual([409, 'VERDICT_CONFLICT', 'not_current']);
  });

  test('a stale expected_revision: 409 that tells the current one', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const answer = await give(attempt, { ...POSITIVE, expected_revision: 99 });
    expect(conflict(answer)).toEqual([409, 'VERDICT_CONFLICT', 'false', null]);
    expect(answer.body.error.details).toEqual({ current_revision: attempt.operation.revision, status: 'unknown' });
  });

  test('two differing ones at once: one settles, the other is told', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const answers = await Promise.all([POSITIVE, NEGATIVE, POSITIVE, NEGATIVE].map((body) => give(attempt, body)));
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, 200, 409, 409]);
    expect(answers.find((one) => one.status === 409)!.body.error.details).toHaveProperty('verdict_id');
    expect(await rowsOf(attempt)).toHaveLength(1);
  });

  test('a verdict and a late answer at once: whoever is first settles, the answer is never overruled', async () => {
    for (let round = 0; round < 5; round += 1) {
      const attempt = await unknownAttempt(api.infra, { account: twitter });
      const [answer, applied] = await Promise.all([give(attempt, NEGATIVE), settleAttempt(api.infra, attempt, { kind: 'succeeded', proof: { platformPostId: '5', url: null } })]);
      expect(applied).toBe(true);
      const { operation, target } = await again(attempt);
      expect([operation.status, operation.settledBy, operation.result?.platform_post_id, target.status]).toEqual(['succeeded', 'late_answer', '5', 'published']);
      if (answer.status === 200) expect((await rowsOf(attempt)).map((row) => row.state)).toEqual(['contradicted']);
      else expect(answer.body.error.details).toMatchObject({ settled_by: 'late_answer' });
    }
  });
});

describe('proof after a wrong verdict, when the post is a draft again', () => {
  test.each(['draft', 'scheduled'])('%s: the operation tells the truth, and the post stays what its owner made of it', async (status) => {
    const attempt = await unknownAttempt(api.infra, { account: mastodon });
    await give(attempt, NEGATIVE);
    const { body: retried } = await api.send('POST', `/v1/posts/${attempt.post.id}/retry`, { key: key.secret });
    const second: string = retried.targets[mastodon.id].accounts[0].operation_id;
    const past = new Date(Date.now() + 3 * 86_400_000);
    await inScope(api.infra.db, SYSTEM, async (tx) => {
      await tx.nativeUpdate(PostEntity, { id: attempt.post.id }, { onLate: 'hold' });
      await endLateOperation(tx, { operationId: second, now: past, activityTimeoutMs: 1_000 });
    });
    if (status === 'scheduled') await api.send('PATCH', `/v1/posts/${attempt.post.id}`, { key: key.secret, body: { content: 'Hello', scheduled_at: new Date(Date.now() + 86_400_000).toISOString() } });
    expect(await settleAttempt(api.infra, attempt, { kind: 'succeeded', proof: { platformPostId: '5', url: null } })).toBe(true);
    const { post, target, operation } = await again(attempt);
    expect([post.status, target.status, operation.status, operation.settledBy, operation.result?.platform_post_id]).toEqual([status, status, 'succeeded', 'late_answer', '5']);
    expect((await rowsOf(attempt)).map((row) => row.state)).toEqual(['contradicted']);
    const told = await inScope(api.infra.db, SYSTEM, (tx) => tx.find(EventEntity, { subjectId: attempt.operation.id, event: 'operation.resolved' }, { orderBy: { sequence: 'asc' } }));
    expect(told.map(({ data }) => data.status)).toEqual(['failed', 'succeeded']);
  });
});

describe('replays', () => {
  test('a replay shows the operation as it is now', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const headers = { 'idempotency-key': `verdict-${attempt.operation.id}` };
    await give(attempt, NEGATIVE, { headers });
    await settleAttempt(api.infra, attempt, { kind: 'succeeded', proof: { platformPostId: '5', url: null } });
    const replay = await give(attempt, NEGATIVE, { headers });
    expect([replay.status, replay.headers.get('idempotency-replayed'), replay.body.status, replay.body.settled_by]).toEqual([200, 'true', 'succeeded', 'late_answer']);
  });
});

describe('POST /v1/posts/{id}/targets/{target_id}/reconcile', () => {
  const reconcile = (attempt: Attempt, body: Record<string, unknown>) => api.send('POST', `/v1/posts/${attempt.post.id}/targets/${attempt.target.id}/reconcile`, { key: key.secret, body: { publish_operation_id: attempt.operation.id, ...body } });

  test('succeeded', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const { status, body } = await reconcile(attempt, { outcome: 'succeeded', provider_post_id: '42' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ post_id: attempt.post.id, target_id: attempt.target.id, publish_operation_id: attempt.operation.id, outcome: 'succeeded', post_status: 'published', thread_status: null });
    expect(body.operation).toMatchObject({ status: 'succeeded', settled_by: 'verdict', verdict: { reason: 'Reconciled by API', platform_post_id: '42' } });
    expect((await reconcile(attempt, { outcome: 'succeeded', provider_post_id: '42' })).status).toBe(200);
  });

  test('failed', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const { body } = await reconcile(attempt, { outcome: 'failed', error_code: 'X', error_message: 'It is not there.' });
    expect(body).toMatchObject({ outcome: 'failed', post_status: 'failed', operation: { status: 'failed', verdict: { outcome: 'not_published', reason: 'It is not there.' } } });
  });

  test('an operation that is not the newest: 409', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const answer = await reconcile(attempt, { outcome: 'succeeded', provider_post_id: '42', publish_operation_id: `op_${'0'.repeat(32)}` });
    expect([answer.status, answer.body.error.code, answer.body.error.details.operation_id]).toEqual([409, 'VERDICT_CONFLICT', attempt.operation.id]);
  });

  test('404 for unknown posts and targets, 422 for fields of the other outcome', async () => {
    const attempt = await unknownAttempt(api.infra, { account: twitter });
    const other = await unknownAttempt(api.infra, { account: twitter });
    const mixed = { ...attempt, target: other.target };
    expect((await reconcile(mixed, { outcome: 'succeeded', provider_post_id: '1' })).body.error.code).toBe('TARGET_NOT_FOUND');
    expect((await reconcile({ ...attempt, post: { ...attempt.post, id: 'post_x' } as never }, { outcome: 'succeeded', provider_post_id: '1' })).body.error.code).toBe('POST_NOT_FOUND');
    expect(issues(await reconcile(attempt, { outcome: 'succeeded', provider_post_id: '1', error_code: 'X' }))).toEqual([['unrecognized_keys', 'error_code']]);
    expect(issues(await reconcile(attempt, { outcome: 'failed' }))).toEqual([['required', 'error_code'], ['required', 'error_message']]);
  });
});
