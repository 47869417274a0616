import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { codeOf, startApi, type Answer, type TestApi } from '../support/api.ts';
import { apiKey, workspace, type TestKey } from '../support/factories.ts';
import { until } from '../support/until.ts';
import { noteRoutes } from './notes.ts';

let api: TestApi;
let second: TestApi;
let key: TestKey;
let idempotencyKey: string;
let turn = 0;

beforeAll(async () => {
  api = await startApi({ routes: noteRoutes });
  second = await startApi({ routes: noteRoutes, databaseUrl: api.databaseUrl });
  key = await apiKey(api.infra);
});
afterAll(async () => {
  await second.close();
  await api.close();
});
beforeEach(() => {
  idempotencyKey = `the-key-of-turn-${(turn += 1)}`;
});

interface Sending {
  from?: TestApi;
  path?: string;
  secret?: string;
  headers?: Record<string, string>;
}

const post = (body: unknown, { from = api, path = '/v1/notes', secret = key.secret, headers = {} }: Sending = {}): Promise<Answer> =>
  from.send('POST', path, { key: secret, body, headers: { 'Idempotency-Key': idempotencyKey, ...headers } });
const replayed = (answer: Answer) => answer.headers.get('idempotency-replayed');

async function notes(text: string): Promise<number> {
  const [row] = await system<{ count: number }>('select count(*)::int as count from workspace where name = ?', [text]);
  return row!.count;
}

async function system<T>(sql: string, params: unknown[] = []): Promise<T[]> {
  return inScope(api.infra.db, SYSTEM, (tx) => tx.execute<T[]>(sql, params));
}

describe('one key, one execution', () => {
  test('the second time is the first reply, byte for byte', async () => {
    const first = await post({ text: 'once' });
    const again = await post({ text: 'once' });
    expect([first.status, replayed(first)]).toEqual([201, 'false']);
    expect([again.status, replayed(again), again.text]).toEqual([201, 'true', first.text]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await notes('once')).toBe(1);
  });

  test('without a key there is no header and each request executes', async () => {
    const [a, b] = [await api.send('POST', '/v1/notes', { key: key.secret, body: { text: 'unkeyed' } }), await api.send('POST', '/v1/notes', { key: key.secret, body: { text: 'unkeyed' } })];
    expect([replayed(a), replayed(b), await notes('unkeyed')]).toEqual([null, null, 2]);
  });

  test('100 simultaneous requests over two processes: exactly one executes', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => post({ text: 'hundred', delay_ms: 150 }, { from: at % 2 === 0 ? api : second })));
    expect(await notes('hundred')).toBe(1);
    const executed = answers.filter((answer) => answer.status === 201 && replayed(answer) === 'false');
    expect(executed).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.text).toBe(executed[0]!.text);
      else {
        expect(codeOf(answer)).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
        expect([answer.headers.get('retry-after'), answer.headers.get('x-should-retry')]).toEqual(['1', 'true']);
      }
    }
    expect((await post({ text: 'hundred', delay_ms: 150 })).text).toBe(executed[0]!.text);
  });

  test('100 simultaneous bodies under one key: one executes', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => post({ text: 'various', count: at % 10, map: { at }, delay_ms: 100 })));
    expect(await notes('various')).toBe(1);
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    for (const answer of answers.filter((one) => one.status !== 201)) expect(['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED']).toContain(answer.body.error.code);
  });
});

describe('what makes another request', () => {
  test('other bytes, even a blank', async () => {
    await post('{"text":"bytes"}');
    for (const body of ['{"text":"bytes" }', '{"text":"bytes","color":"red"}', '{"text":"other"}']) {
      const answer = await post(body);
      expect(codeOf(answer)).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
      expect([answer.headers.get('x-should-retry'), answer.headers.get('retry-after')]).toEqual(['false', null]);
    }
    expect((await post('{"text":"bytes"}')).status).toBe(201);
  });

  test('other bytes that are not valid are still another request', async () => {
    await post('{"text":"bytes2"}');
    expect(codeOf(await post('{"text":5}'))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('another route, another method, another query; the order of the query does not count', async () => {
    await post({ text: 'route' }, { path: '/v1/notes?a=1&b=2' });
    expect(codeOf(await post({ text: 'route' }, { path: '/v1/other-notes?a=1&b=2' }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(codeOf(await post({ text: 'route' }, { path: '/v1/notes?a=1' }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(codeOf(await api.send('DELETE', '/v1/notes/x', { key: key.secret, body: { text: 'route' }, headers: { 'Idempotency-Key': idempotencyKey } }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(replayed(await post({ text: 'route' }, { path: '/v1/notes?b=2&a=1' }))).toBe('true');
  });

  test('another credential has its own keys, and so has the other mode', async () => {
    await post({ text: 'own' });
    const [other, live] = [await apiKey(api.infra, { organizationId: key.organizationId }), await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' })];
    for (const { secret } of [other, live]) expect(replayed(await post({ text: 'own' }, { secret }))).toBe('false');
    expect(await notes('own')).toBe(3);
  });

  test('two empty bodies are equal, whatever their Content-Type', async () => {
    const send = (headers: Record<string, string>) => api.send('POST', '/v1/notes/x/poke', { key: key.secret, headers: { 'Idempotency-Key': idempotencyKey, ...headers } });
    expect(replayed(await send({}))).toBe('false');
    expect([replayed(await send({ 'content-type': 'text/plain' })), (await send({})).status]).toEqual(['true', 204]);
  });
});

describe('what frees a key', () => {
  test('a refusal of any kind was not done, so the next request executes, with other bytes too', async () => {
    expect((await post({ text: 'free', act: 'refuse' })).status).toBe(409);
    expect((await post({ text: 'free', act: 'break' })).status).toBe(500);
    expect((await post({ text: 'free', wrong: 1 })).status).toBe(422);
    expect((await post('{"text":')).status).toBe(400);
    expect(await notes('free')).toBe(0);
    const answer = await post({ text: 'free' });
    expect([answer.status, replayed(answer), await notes('free')]).toEqual([201, 'false', 1]);
  });

  test('a database connection that is killed in the middle: 503, nothing done, the lock is gone', async () => {
    const running = post({ text: 'killed', act: 'sleep' });
    await until('the request sleeps', async () => (await sleeping()).length === 1);
    expect(codeOf(await post({ text: 'killed', act: 'sleep' }))).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    await system('select 1');
    await terminate((await sleeping())[0]!);
    const answer = await running;
    expect(codeOf(answer)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect([answer.headers.get('retry-after'), answer.headers.get('x-should-retry')]).toEqual(['1', 'true']);
    expect(await notes('killed')).toBe(0);
    expect(replayed(await post({ text: 'killed' }))).toBe('false');
  });

  test('a client that goes away after its body: the request runs to its end and the reply waits', async () => {
    const abort = new AbortController();
    const running = fetch(`${api.url}/v1/notes`, { method: 'POST', signal: abort.signal, headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json', 'idempotency-key': idempotencyKey }, body: '{"text":"gone","delay_ms":200}' }).catch(() => null);
    await pause(100);
    abort.abort();
    await running;
    await until('the note is there', async () => (await notes('gone')) === 1);
    expect(replayed(await post('{"text":"gone","delay_ms":200}'))).toBe('true');
  });

  test('after 30 days the key is fresh', async () => {
    await post({ text: 'old' });
    await system(`update receipt set created_at = now() - interval '31 days' where key = ?`, [idempotencyKey]);
    expect(replayed(await post({ text: 'old', color: 'red' }))).toBe('false');
    expect(replayed(await post({ text: 'old', color: 'red' }))).toBe('true');
    expect(await notes('old')).toBe(2);
  });
});

describe('what is kept', () => {
  test('the stored reply is sealed, and no word of it can be read', async () => {
    await post({ text: 'sealed-word' });
    const [row] = await system<{ sealed: Buffer }>('select sealed from receipt where key = ?', [idempotencyKey]);
    expect(row!.sealed.includes(Buffer.from('sealed-word'))).toBe(false);
  });

  test('a one-time secret is not kept: the replay has null and says what it left out', async () => {
    const first = await post(undefined, { path: '/v1/notes/secret' });
    const again = await post(undefined, { path: '/v1/notes/secret' });
    expect(first.body.key).toMatch(/^req_/);
    expect([again.status, again.body]).toEqual([201, { key: null, secret_omitted: ['key'] }]);
  });

  test('a replay shows no workspace that the credential has lost meanwhile', async () => {
    const one = await workspace(api.infra, { organizationId: key.organizationId });
    const two = await workspace(api.infra, { organizationId: key.organizationId });
    const scoped = await apiKey(api.infra, { organizationId: key.organizationId, workspaceScope: [one.id, two.id] });
    const body = { text: 'scoped', workspace_id: one.id };
    expect((await post(body, { secret: scoped.secret })).status).toBe(201);
    await system('update api_key set workspace_scope = array[?]::text[] where id = ?', [[two.id], scoped.id]);
    expect(codeOf(await post(body, { secret: scoped.secret }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    await system('update api_key set workspace_scope = array[?]::text[] where id = ?', [[one.id, two.id], scoped.id]);
    expect(replayed(await post(body, { secret: scoped.secret }))).toBe('true');
  });
});

async function sleeping(): Promise<number[]> {
  const rows = await system<{ pid: number }>(`select pid from pg_locks where locktype = 'advisory' and objid is not null and granted and pid <> pg_backend_pid() and database = (select oid from pg_database where datname = current_database())`);
  return rows.map((row) => row.pid);
}

/** The login role may end its own sessions; the roles it acts as may not. */
async function terminate(pid: number): Promise<void> {
  await api.infra.db.em.getConnection().execute(`select pg_terminate_backend(${pid})`);
}
