import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { newId } from '../../infra/contract/ids.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { apiKey, type TestKey } from '../support/factories.ts';
import { noteRoutes } from './notes.ts';

let api: TestApi;
let key: TestKey;
const ids: string[] = [];

beforeAll(async () => {
  api = await startApi({ routes: noteRoutes });
  key = await apiKey(api.infra);
  // Three notes of each second: their ids decide.
  for (let at = 0; at < 25; at += 1) ids.push(await note(new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(at / 3))), at % 5 === 0 ? 'fifth' : 'other'));
});
afterAll(() => api.close());

async function note(at: Date, name: string): Promise<string> {
  const id = newId('workspace');
  await inScope(api.infra.db, SYSTEM, (tx) => tx.execute('insert into workspace (id, organization_id, name, slug, status, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?)', [id, key.organizationId, name, id, 'active', at, at]));
  return id;
}

const list = (query: string, secret = key.secret) => api.send('GET', `/v1/notes${query}`, { key: secret });

async function walk(query: string, limit: number): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await list(`?limit=${limit}&cursor=${cursor}${query}`);
    expect(body.has_more).toBe(body.next_cursor !== null);
    seen.push(...body.data.map((row: { id: string }) => row.id));
    cursor = body.next_cursor;
  }
  return seen;
}

describe('pages', () => {
  test('all rows once, newest first, in pages of any size', async () => {
    const expected = ids.toReversed();
    for (const limit of [1, 7, 24, 25, 100]) expect(await walk('', limit)).toEqual(expected);
    expect((await list('')).body.data).toHaveLength(20);
  });

  test('rows that come meanwhile neither repeat nor hide rows, and a deleted position still works', async () => {
    const { body } = await list('?limit=10');
    const added = await note(new Date(), 'late');
    await inScope(api.infra.db, SYSTEM, (tx) => tx.execute('delete from workspace where id in (?)', [[added]]));
    const last = body.data.at(-1).id;
    const before = ids.toReversed();
    expect((await list(`?limit=3&cursor=${body.next_cursor}`)).body.data.map((row: { id: string }) => row.id)).toEqual(before.slice(before.indexOf(last) + 1).slice(0, 3));
  });

  test('from and to are inclusive', async () => {
    const rows = await walk('&from=2026-01-01T00:00:02Z&to=2026-01-01T00:00:03Z', 4);
    expect(rows).toEqual(ids.slice(6, 12).toReversed());
  });

  test('filters hold over pages', async () => {
    expect(await walk('&text=fifth', 2)).toEqual(ids.filter((_, at) => at % 5 === 0).toReversed());
  });

  test('a cursor that was altered, or belongs to another list, is 400', async () => {
    const { next_cursor: cursor } = (await list('?limit=5&text=other')).body;
    const foreign = await apiKey(api.infra);
    const live = await apiKey(api.infra, { organizationId: key.organizationId, mode: 'live' });
    const flipped = `${cursor.slice(0, 10)}${cursor[10] === 'A' ? 'B' : 'A'}${cursor.slice(11)}`;
    const cases: [string, string?][] = [
      [`?limit=5&text=other&cursor=${flipped}`], [`?limit=5&text=other&cursor=${cursor}A`], [`?limit=5&text=other&cursor=${cursor.slice(0, -1)}`], ['?cursor=x'], [`?cursor=${'A'.repeat(2100)}`],
      [`?limit=5&cursor=${cursor}`], [`?limit=5&text=fifth&cursor=${cursor}`], [`?limit=5&text=other&old=true&cursor=${cursor}`],
      [`?limit=5&text=other&cursor=${cursor}`, foreign.secret], [`?limit=5&text=other&cursor=${cursor}`, live.secret],
    ];
    for (const [query, secret] of cases) {
      const answer = await list(query, secret);
      expect([query, answer.status, answer.body.error?.code, answer.headers.get('x-should-retry')]).toEqual([query, 400, 'INVALID_CURSOR', 'false']);
    }
    expect((await list(`?text=other&limit=9&cursor=${cursor}`)).status).toBe(200);
  });

  test('another key of the same organization and mode may go on with a cursor; its scope is applied anew', async () => {
    const { next_cursor: cursor } = (await list('?limit=5')).body;
    const scoped = await apiKey(api.infra, { organizationId: key.organizationId, workspaceScope: [ids[3]!] });
    expect((await list(`?limit=5&cursor=${cursor}`, scoped.secret)).body.data.map((row: { id: string }) => row.id)).toEqual([ids[3]]);
  });
});
