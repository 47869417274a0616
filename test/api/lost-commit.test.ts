import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { startApi, type Answer, type TestApi } from '../support/api.ts';
import { apiKey, organization } from '../support/factories.ts';
import { TcpProxy, type Tap, type Tapped } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { noteRoutes } from './notes.ts';

let direct: TestApi;
let api: TestApi;
let proxy: TcpProxy;
let key: string;

beforeAll(async () => {
  direct = await startApi({ routes: noteRoutes });
  const url = new URL(direct.databaseUrl);
  proxy = await TcpProxy.start({ port: Number(url.port) });
  url.port = String(proxy.port);
  url.hostname = '127.0.0.1';
  api = await startApi({ routes: noteRoutes, databaseUrl: url.href });
  key = (await apiKey(direct.infra, { organizationId: (await organization(direct.infra)).id })).secret;
  await api.send('GET', '/v1/notes', { key });
  await until('the use of the key is noted', async () => (await inScope(direct.infra.db, SYSTEM, (tx) => tx.execute<unknown[]>('select 1 from api_key where last_used_at is not null'))).length === 1);
});
afterAll(async () => {
  await api.close();
  await proxy.stop();
  await direct.close();
});

/** Cuts the connections of the transactions that write these texts, once the COMMIT of each is asked for, or answered. */
function cutAtCommit(texts: string[], moment: 'asked' | 'answered', andThen: () => void = () => {}): Tap {
  const held: Tapped[] = [];
  return ({ direction, bytes, connection }) => {
    if (direction === 'to_server' && texts.some((text) => bytes.includes(text))) connection.notes.writes = true;
    const isCommit = connection.notes.writes === true && (moment === 'asked' ? direction === 'to_server' && bytes.includes('commit\0') : direction === 'to_client' && bytes.includes('COMMIT\0'));
    if (!isCommit) return 'pass';
    connection.notes.writes = false;
    held.push(connection);
    if (held.length < texts.length) return 'hold';
    andThen();
    for (const one of held) one.cut();
    return 'hold';
  };
}

const post = (text: string, idempotencyKey?: string): Promise<Answer> => api.send('POST', '/v1/notes', { key, body: { text }, headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey } });

async function notes(text: string): Promise<number> {
  const [row] = await inScope(direct.infra.db, SYSTEM, (tx) => tx.execute<{ count: number }[]>('select count(*)::int as count from workspace where name = ?', [text]));
  return row!.count;
}

describe('the answer of COMMIT is lost', () => {
  test.each([undefined, 'lost-key-1'])('and it was committed: the normal reply (key: %s)', async (idempotencyKey) => {
    const text = `kept ${idempotencyKey ?? 'no key'}`;
    proxy.tap = cutAtCommit([text], 'answered');
    const answer = await post(text, idempotencyKey);
    expect([answer.status, answer.body.text, await notes(text)]).toEqual([201, text, 1]);
    if (idempotencyKey !== undefined) expect((await post(text, idempotencyKey)).headers.get('idempotency-replayed')).toBe('true');
  });

  test.each([undefined, 'lost-key-2'])('and it was rolled back: 503, and the next try does it (key: %s)', async (idempotencyKey) => {
    const text = `undone ${idempotencyKey ?? '-'}`;
    proxy.tap = cutAtCommit([text], 'asked');
    const answer = await post(text, idempotencyKey);
    expect([answer.status, answer.body.error.code, answer.headers.get('retry-after'), await notes(text)]).toEqual([503, 'SERVICE_UNAVAILABLE', '1', 0]);
    proxy.tap = () => 'pass';
    expect([(await post(text, idempotencyKey)).status, await notes(text)]).toEqual([201, 1]);
  });

  test('and the database stays away: without a key the client is told not to repeat, with one it may', async () => {
    proxy.tap = cutAtCommit(['unknown 1', 'unknown 2'], 'answered', () => setImmediate(() => proxy.sever()));
    const [unkeyed, keyed] = await Promise.all([post('unknown 1'), post('unknown 2', 'lost-key-3')]);
    expect([unkeyed.status, unkeyed.body.error.code, unkeyed.body.error.details.outcome, unkeyed.headers.get('x-should-retry')]).toEqual([500, 'INTERNAL_ERROR', 'unknown', 'false']);
    expect([keyed.status, keyed.body.error.code, keyed.headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
    proxy.heal();
    proxy.tap = () => 'pass';
    const again = await post('unknown 2', 'lost-key-3');
    expect([again.status, again.headers.get('idempotency-replayed'), await notes('unknown 1'), await notes('unknown 2')]).toEqual([201, 'true', 1, 1]);
  });

  test('a database that is away before COMMIT is 503 for everybody, and nothing was done', async () => {
    proxy.sever();
    for (const idempotencyKey of [undefined, 'lost-key-4']) {
      const answer = await post('away', idempotencyKey);
      expect([answer.status, answer.body.error.code, answer.headers.get('x-should-retry')]).toEqual([503, 'SERVICE_UNAVAILABLE', 'true']);
    }
    proxy.heal();
    expect([(await post('away')).status, await notes('away')]).toEqual([201, 1]);
  });

  test('broken connections do not use up the pool', async () => {
    for (let at = 0; at < 15; at += 1) {
      proxy.tap = cutAtCommit([`broken ${at}`], 'asked');
      expect((await post(`broken ${at}`)).status).toBe(503);
    }
    proxy.tap = () => 'pass';
    expect((await post('whole')).status).toBe(201);
  });
});
