import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { carryOut } from '../../activities/operations/carry-out.ts';
import { probeOperation } from '../../activities/operations/probe.ts';
import { newId } from '../../infra/contract/ids.ts';
import { seal } from '../../infra/crypto/envelope.ts';
import { credentialPlace } from '../../infra/crypto/places.ts';
import type { Account } from '../../infra/db/entities/account.entity.ts';
import { CredentialEntity } from '../../infra/db/entities/credential.entity.ts';
import { OperationEntity } from '../../infra/db/entities/operation.entity.ts';
import { NO_TEXT, PostEntity } from '../../infra/db/entities/post.entity.ts';
import { StepEntity } from '../../infra/db/entities/step.entity.ts';
import { TargetEntity } from '../../infra/db/entities/target.entity.ts';
import { inScope, SYSTEM, tenant } from '../../infra/db/tenant.ts';
import { ClaimLost, TransportFailure, type Trip } from '../../infra/http/types.ts';
import { openPublish } from '../../infra/ledger/open.ts';
import type { Provider, StepAnswer } from '../../providers/provider.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { account, apiKey, organization, type TestKey } from '../support/factories.ts';
import { unknownAttempt } from '../support/operations.ts';

/*
 * Interleavings that no platform can be asked to play in order: the carrier runs on a real database, with a scripted wire.
 * Each of these was once a way to publish twice, to lose a post, or to guess.
 */

let api: TestApi;
let key: TestKey;
let organizationId: string;
beforeAll(async () => {
  api = await startApi({ env: { CALL_DEADLINE_MS: '300', CLAIM_MARGIN_MS: '200', ACTIVITY_TIMEOUT_MS: '6000', SHUTDOWN_GRACE_MS: '7000', KEYED_RESEND_MS: '100' } });
  ({ id: organizationId } = await organization(api.infra));
  key = await apiKey(api.infra, { organizationId });
}, 60_000);
afterAll(() => api.close());

const trip = (sent: boolean): Trip => ({ progress: sent ? 'body_sent' : 'connecting', connectedAt: new Date(), headersSentAt: sent ? new Date() : null, bodySentAt: null, answerStartedAt: null, answeredAt: null, bytesSent: sent ? 10 : 0, bytesReceived: 0 });
const answer = (status: number) => ({ status, headers: {}, contentType: null, body: Buffer.alloc(0), json: undefined });
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Every public request that left, in order. */
let sends: string[];
let script: (() => Promise<void>)[];
const outbound = {
  async call(request: { headers?: Record<string, string> }, options: { fresh?: { claim(): Promise<boolean> } }) {
    if (options.fresh) {
      if (!(await options.fresh.claim())) throw new ClaimLost(trip(false));
      sends.push(request.headers?.key ?? 'no key');
      await script.shift()?.();
    }
    return { answer: answer(200), trip: trip(true) };
  },
} as never;

function provider(more: Partial<Provider> & { effect?: 'public_keyed' | 'public_unkeyed'; windowMs?: number; media?: boolean; answers: StepAnswer[]; uploads?: { count: number } }): Provider {
  const { effect = 'public_keyed', windowMs = 3_000_000, answers, media = false, uploads } = more;
  return {
    platform: 'twitter',
    plan: (work) => [...(media ? [{ name: 'prep', effect: 'private' as const, required: true, lifetimeMs: 3_600_000 }] : []), { name: 'publish', effect, required: true, ...(effect === 'public_keyed' ? { key: { value: work.operationId, windowMs } } : {}) }],
    async send(step, work, http) {
      if (step.name === 'prep') {
        if (uploads) uploads.count += 1;
        return { kind: 'done', checkpoint: { id: 'new' }, providerId: 'new' };
      }
      await http.request({ method: 'POST', url: 'https://x.example', headers: { key: work.operationId } });
      return answers.shift()!;
    },
    reconcile: async () => ({ kind: 'not_there', seen: [] }),
    absence: () => null, postIdFromUrl: () => null, ...more,
  } as Provider;
}

async function withCredential(platform: 'twitter' = 'twitter'): Promise<Account> {
  const row = await account(api.infra, { organizationId, platform });
  await inScope(api.infra.db, SYSTEM, (tx) => tx.insert(CredentialEntity, {
    accountId: row.id, organizationId, mode: 'test', generation: 1, refreshesLost: 0, updatedAt: new Date(),
    sealed: seal(api.infra.secrets.encryptionKeys, credentialPlace({ accountId: row.id, organizationId }), Buffer.from('{"accessToken":"a"}')),
  } as never));
  return row;
}

async function pending(owner: Account): Promise<{ post: string; target: string; operation: string }> {
  const at = new Date();
  return inScope(api.infra.db, tenant(owner), async (tx) => {
    const common = { organizationId, mode: 'test' as const, createdAt: at, updatedAt: at };
    const post = tx.create(PostEntity, { id: newId('post'), ...common, workspaceId: null, workspaceGiven: false, status: 'publishing', content: 'x', textSource: NO_TEXT, skipSignature: false, shortenUrls: false, media: null, targetOptions: null, timezone: 'UTC', scheduledAt: at, maxLatenessSeconds: 86_400, onLate: 'publish', revision: 1, seq: 1, eventSeq: 0, createdBy: { type: 'system', id: null } } as never, { persist: true });
    const target = tx.create(TargetEntity, { id: newId('target'), ...common, postId: post.id, accountId: owner.id, platform: owner.platform, byId: true, position: 0, status: 'publishing', attempt: 0, text: 'x', options: {}, media: [], warnings: [] } as never, { persist: true });
    return { post: post.id, target: target.id, operation: openPublish(tx, { post, target, actor: { type: 'system', id: null }, requestId: null, now: at }).id };
  });
}
const row = (id: string) => inScope(api.infra.db, SYSTEM, (tx) => tx.findOneOrFail(OperationEntity, { id }));
const lost = async () => { throw new TransportFailure('reset', trip(true)); };
const notSent = async () => { throw new TransportFailure('closed', trip(false)); };
async function drive(deps: Parameters<typeof carryOut>[0], id: string, forMs: number) {
  const end = Date.now() + forMs;
  for (;;) {
    const result = await carryOut(deps, { operationId: id });
    if (result.kind === 'settled') return result;
    if (Date.now() + Math.max(0, result.untilMs - Date.now()) > end) return result;
    await sleep(Math.max(result.untilMs - Date.now(), 1));
  }
}
const depsOf = (one: Provider) => ({ infra: api.infra, outbound, providers: { twitter: one } }) as never;

const notFound: StepAnswer = { kind: 'refused', error: { code: 'OBJECT_NOT_FOUND', platformCode: '404', platformMessage: null }, answer: answer(404) };

test('the refusal of a keyed repetition says nothing of the first, lost request', async () => {
  sends = []; script = [lost];
  const { operation } = await pending(await withCredential());
  await drive(depsOf(provider({ answers: [notFound, notFound] })), operation, 5_000);
  expect([(await row(operation)).status, sends.length]).toEqual(['unknown', 3]);
}, 30_000);

test('a keyed repetition that is rate limited beyond the key is not sent again', async () => {
  sends = []; script = [lost];
  let reads = 0;
  const { operation } = await pending(await withCredential());
  const one = provider({ windowMs: 1_000, answers: [{ kind: 'wait', reason: 'rate_limited', afterMs: 2_000, answer: answer(429) }, { kind: 'done', checkpoint: {}, providerId: '2', proof: { platformPostId: '2', url: null } }], reconcile: async () => { reads += 1; return { kind: 'not_there', seen: [] }; } });
  await drive(depsOf(one), operation, 10_000);
  expect([(await row(operation)).status, sends.length, reads]).toEqual(['unknown', 2, 1]);
}, 30_000);

test('a keyed repetition whose connection died is read for before it is tried once more', async () => {
  sends = []; script = [lost, notSent];
  let reads = 0;
  const { operation } = await pending(await withCredential());
  const one = provider({ windowMs: 1_000, answers: [{ kind: 'done', checkpoint: {}, providerId: '2', proof: { platformPostId: '2', url: null } }], reconcile: async () => { reads += 1; return { kind: 'not_there', seen: [] }; } });
  await drive(depsOf(one), operation, 8_000);
  expect([(await row(operation)).status, sends.length, reads]).toEqual(['succeeded', 3, 2]);
}, 30_000);

test('a post deleted while its request is under way, which is then rate limited, is never published', async () => {
  sends = [];
  const owner = await withCredential();
  const { post, operation } = await pending(owner);
  script = [async () => { expect((await api.send('DELETE', `/v1/posts/${post}`, { key: key.secret })).status).toBe(204); }];
  await drive(depsOf(provider({ effect: 'public_unkeyed', answers: [{ kind: 'wait', reason: 'rate_limited', afterMs: 500, answer: answer(429) }, { kind: 'done', checkpoint: {}, providerId: '2', proof: { platformPostId: '2', url: null } }] })), operation, 8_000);
  const { status, error } = await row(operation);
  expect([status, error?.code]).toEqual(['failed', 'CANCELLED']);
}, 30_000);

const expired: StepAnswer = { kind: 'expired', error: { code: 'TOKEN_EXPIRED', platformCode: null, platformMessage: null }, answer: answer(401) };

test('a proven refusal of the token stays proven while the refresh hangs', async () => {
  sends = []; script = [];
  const { operation } = await pending(await withCredential());
  const one = provider({ effect: 'public_unkeyed', answers: [expired, expired], refresh: async () => { await sleep(1_500); return { kind: 'unclear' }; } });
  const first = carryOut(depsOf(one), { operationId: operation });
  await sleep(900);
  await carryOut(depsOf(one), { operationId: operation });
  const { status } = await row(operation);
  await first.catch(() => {});
  expect(status).toBe('pending');
}, 30_000);

test('a credential that does not open: an expired claim still becomes unknown', async () => {
  sends = []; script = [async () => { throw new Error('the process dies'); }];
  const owner = await withCredential();
  const { operation } = await pending(owner);
  await carryOut(depsOf(provider({ effect: 'public_unkeyed', answers: [] })), { operationId: operation }).catch(() => {});
  await inScope(api.infra.db, SYSTEM, (tx) => tx.execute('update credential set sealed = ? where account_id = ?', [Buffer.from('broken'), owner.id]));
  await sleep(700);
  await carryOut(depsOf(provider({ effect: 'public_unkeyed', answers: [] })), { operationId: operation }).catch((error: Error) => error.message);
  const { status } = await row(operation);
  expect(status).toBe('unknown');
}, 30_000);

test('a verdict during a read leaves no read to come on a settled operation', async () => {
  const owner = await withCredential();
  const attempt = await unknownAttempt(api.infra, { account: owner, more: { nextProbeAt: new Date(Date.now() - 1_000) } });
  const one = provider({ effect: 'public_unkeyed', answers: [], reconcile: async () => {
    const { status, text } = await api.send('POST', `/v1/operations/${attempt.operation.id}/verdict`, { key: key.secret, body: { outcome: 'published', platform_post_id: '77', reason: 'seen', expected_revision: attempt.operation.revision } });
    if (status !== 200) throw new Error(text);
    return { kind: 'undetermined', seen: [] };
  } });
  await probeOperation(depsOf(one), { operationId: attempt.operation.id });
  const { body } = await api.send('GET', `/v1/operations/${attempt.operation.id}`, { key: key.secret });
  expect([body.status, body.next_probe_at]).toEqual(['succeeded', null]);
}, 30_000);

test('a platform message that is cut within a character is still a refusal', async () => {
  sends = []; script = [];
  const { operation } = await pending(await withCredential());
  const one = provider({ effect: 'public_unkeyed', answers: [{ kind: 'refused', error: { code: 'CONTENT_REJECTED', platformCode: '400', platformMessage: `${'x'.repeat(4_095)}😀` }, answer: answer(400) }] });
  await carryOut(depsOf(one), { operationId: operation }).catch((error: Error) => error.message.slice(-200));
  const { status } = await row(operation);
  expect(status).toBe('failed');
}, 30_000);

test('an upload of the attempt before that the platform no longer has is made anew', async () => {
  sends = []; script = [];
  const owner = await withCredential();
  const { post, target, operation: before } = await pending(owner);
  await inScope(api.infra.db, SYSTEM, async (tx) => {
    await tx.insert(StepEntity, { operationId: before, organizationId, mode: 'test', name: 'prep', effect: 'private', required: true, position: 0, state: 'done', attempt: 1, reused: false, progress: 'answered', checkpoint: { id: 'old' }, usableUntil: new Date(Date.now() + 3_600_000), finishedAt: new Date() } as never);
    await tx.execute(`update operation set status = 'failed', settled_by = 'service' where id = ?`, [before]);
  });
  const operation = await inScope(api.infra.db, tenant(owner), async (tx) => openPublish(tx, { post: await tx.findOneOrFail(PostEntity, { id: post }), target: await tx.findOneOrFail(TargetEntity, { id: target }), actor: { type: 'system', id: null }, requestId: null, now: new Date() }).id);
  const uploads = { count: 0 };
  const gone: StepAnswer = { kind: 'redo', steps: ['prep'], error: { code: 'MEDIA_REJECTED', platformCode: null, platformMessage: null }, answer: answer(400) };
  const one = provider({ effect: 'public_unkeyed', media: true, uploads, answers: [gone, gone, gone] });
  await drive(depsOf({ ...one }), operation, 5_000);
  expect(uploads.count).toBe(1);
}, 30_000);
