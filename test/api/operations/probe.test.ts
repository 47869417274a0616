import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import { OperationEntity } from '../../../infra/db/entities/operation.entity.ts';
import { OutboxEntity } from '../../../infra/db/entities/outbox.entity.ts';
import { noteOperation } from '../../../infra/db/repositories/timeline.ts';
import { inScope, SYSTEM, tenant } from '../../../infra/db/tenant.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { account, apiKey, organization, type TestKey } from '../../support/factories.ts';
import { sendingAttempt, settleAttempt, unknownAttempt, type Attempt } from '../../support/operations.ts';
import { until } from '../../support/until.ts';

let api: TestApi;
let key: TestKey;
let mastodon: Account;

beforeAll(async () => {
  api = await startApi();
  const { id: organizationId } = await organization(api.infra);
  key = await apiKey(api.infra, { organizationId });
  mastodon = await account(api.infra, { organizationId, platform: 'mastodon' });
});
afterAll(() => api.close());

const ask = (attempt: Attempt, wait: string | null = 'wait=0', more: Record<string, string> = {}) =>
  api.send('POST', `/v1/operations/${attempt.operation.id}/probe`, { key: key.secret, headers: { ...(wait === null ? {} : { prefer: wait }), ...more } });
const change = (attempt: Attempt, values: object) => inScope(api.infra.db, SYSTEM, (tx) => tx.nativeUpdate(OperationEntity, { id: attempt.operation.id }, values));
const note = (attempt: Attempt, type: string, ...times: Date[]) => inScope(api.infra.db, tenant(attempt.operation), async (tx) => {
  const operation = await tx.findOneOrFail(OperationEntity, { id: attempt.operation.id });
  noteOperation(tx, operation, times.map((at) => ({ type, message: 'It was.', at })), new Date());
});
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

describe('POST /v1/operations/{id}/probe', () => {
  test('makes the next read due, notes who asked, and starts a lost reconciliation again', async () => {
    const attempt = await unknownAttempt(api.infra, { account: mastodon });
    const before = Date.now();
    const { status, body, headers } = await ask(attempt);
    expect([status, headers.get('location'), headers.get('preference-applied')]).toEqual([202, `/v1/operations/${attempt.operation.id}`, 'wait=0']);
    expect(body).toMatchObject({ status: 'unknown', revision: attempt.operation.revision });
    expect(Date.parse(body.next_probe_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.next_probe_at)).toBeLessThanOrEqual(Date.now());
    expect(body.timeline.at(-1)).toMatchObject({ type: 'probe_requested', actor: { type: 'api_key', id: key.id } });
    const rows = await inScope(api.infra.db, SYSTEM, (tx) => tx.find(OutboxEntity, { workflowId: `reconcile/${attempt.operation.id}` }));
    expect(rows.map((row) => row.intent).toSorted()).toEqual(['start', 'wake']);
  });

  test('200 once the read has ended within the wait', async () => {
    const attempt = await unknownAttempt(api.infra, { account: mastodon });
    const asked = ask(attempt, null);
    await until('the probe was asked for', async () => (await inScope(api.infra.db, SYSTEM, (tx) => tx.findOneOrFail(OperationEntity, { id: attempt.operation.id }))).nextProbeAt! < new Date());
    await change(attempt, { probeCount: 1, lastProbeAt: new Date() });
    const { status, headers, body } = await asked;
    expect([status, headers.get('preference-applied'), headers.get('location'), body.status]).toEqual([200, 'wait=10', null, 'unknown']);
  });

  test('200 when something settled it meanwhile; a replay shows it as it is', async () => {
    const attempt = await unknownAttempt(api.infra, { account: mastodon });
    const headers = { 'idempotency-key': `probe-${attempt.operation.id}` };
    expect((await ask(attempt, 'wait=0', headers)).status).toBe(202);
    await settleAttempt(api.infra, attempt, { kind: 'succeeded', proof: { platformPostId: '1', url: null } });
    const replay = await ask(attempt, 'wait=0', headers);
    expect([replay.status, replay.headers.get('idempotency-replayed'), replay.body.status]).toEqual([202, 'true', 'succeeded']);
  });

  test.each(['wait=26', 'wait=-1', 'wait=soon'])('422 for Prefer: %s', async (wish) => {
    const { status, body } = await ask(await unknownAttempt(api.infra, { account: mastodon }), wish);
    expect([status, body.error.details.issues[0].path, body.error.details.issues[0].in]).toEqual([422, ['Prefer'], 'header']);
  });

  test('409 when the outcome is not unknown', async () => {
    const { status, body, headers } = await ask(await sendingAttempt(api.infra, { account: mastodon }));
    expect([status, body.error.code, body.error.details, headers.get('x-should-retry')]).toEqual([409, 'OPERATION_NOT_UNKNOWN', { status: 'sending' }, 'false']);
  });

  test('422 where nothing can be read', async () => {
    const { status, body } = await ask(await unknownAttempt(api.infra, { account: mastodon, probing: 'unavailable' }));
    expect([status, body.error.code]).toEqual([422, 'PROBE_UNAVAILABLE']);
  });

  test('429 within a minute of the last read or request', async () => {
    const attempt = await unknownAttempt(api.infra, { account: mastodon, more: { lastProbeAt: ago(20), probeCount: 1 } });
    const { status, body, headers } = await ask(attempt);
    expect([status, body.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(35);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(40);
    await change(attempt, { lastProbeAt: ago(61) });
    expect((await ask(attempt)).status).toBe(202);
    expect((await ask(attempt)).status).toBe(429);
  });

  test('429 after 20 requests in a day', async () => {
    const attempt = await unknownAttempt(api.infra, { account: mastodon });
    await note(attempt, 'probe_requested', ...Array.from({ length: 20 }, (_, index) => ago(86_000 - index * 100)));
    const { status, headers } = await ask(attempt);
    expect([status, Number(headers.get('retry-after')) > 300, Number(headers.get('retry-after')) <= 400]).toEqual([429, true, true]);
  });

  test("429 when the account's reads are used up", async () => {
    const busy = await account(api.infra, { organizationId: key.organizationId, platform: 'mastodon' });
    const attempt = await unknownAttempt(api.infra, { account: busy, more: { lastProbeAt: ago(70) } });
    await note(attempt, 'probe_started', ...Array.from({ length: 300 }, () => ago(100)));
    const { status, headers } = await ask(attempt);
    expect([status, Number(headers.get('retry-after')) > 190, Number(headers.get('retry-after')) <= 200]).toEqual([429, true, true]);
  });

  test('two at once: one is taken', async () => {
    const attempt = await unknownAttempt(api.infra, { account: mastodon });
    const answers = await Promise.all([ask(attempt), ask(attempt)]);
    expect(answers.map((one) => one.status).toSorted()).toEqual([202, 429]);
  });

  test('403 without the permission', async () => {
    const weak = await apiKey(api.infra, { organizationId: key.organizationId, permissions: ['write'] });
    const attempt = await unknownAttempt(api.infra, { account: mastodon });
    const { status, body } = await api.send('POST', `/v1/operations/${attempt.operation.id}/probe`, { key: weak.secret });
    expect([status, body.error.details]).toEqual([403, { reason: 'missing_permission', required_permission: 'reconcile' }]);
  });
});
