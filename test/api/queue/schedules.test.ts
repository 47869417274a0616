import { describe, expect, test } from '@jest/globals';
import { apiKey, workspace } from '../../support/factories.ts';
import { codeOf, useQueueWorld, type Home, type QueueWorld } from './world.ts';

let world: QueueWorld;
let home: Home;
useQueueWorld((opened, own) => {
  [world, home] = [opened, own];
});

const MONDAY = { day_of_week: 1, time: '09:00' };
const aWorkspace = async (status?: 'archived') => (await workspace(world.api.infra, { organizationId: home.organizationId, ...(status === undefined ? {} : { status }) })).id;
const scopedKey = async (...workspaceScope: string[]) => (await apiKey(world.api.infra, { organizationId: home.organizationId, workspaceScope })).secret;
const read = async (id: string) => (await home.send('GET', `/v1/queue/slots/${id}`)).body;

describe('POST /v1/queue/slots', () => {
  test('201; slots have their zones, are folded and in order; the first of a scope is its default', async () => {
    const answer = await home.send('POST', '/v1/queue/slots', {
      name: 'Weekdays', timezone: 'europe/berlin', is_default: false,
      slots: [{ day_of_week: 3, time: '18:30' }, { ...MONDAY, timezone: 'UTC' }, MONDAY, { ...MONDAY, timezone: 'Europe/Berlin' }, { day_of_week: 0, time: '00:00' }],
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`/v1/queue/slots/${answer.body.id}`);
    expect(answer.body).toMatchObject({
      name: 'Weekdays', is_default: true, workspace_id: null, revision: 1,
      slots: [
        { day_of_week: 0, time: '00:00', timezone: 'Europe/Berlin' }, { ...MONDAY, timezone: 'Europe/Berlin' }, { ...MONDAY, timezone: 'UTC' }, { day_of_week: 3, time: '18:30', timezone: 'Europe/Berlin' },
      ],
    });
    expect(await read(answer.body.id)).toEqual(answer.body);
  });

  test('the zone is UTC where none is given, the name null', async () => {
    expect(await home.schedule({ slots: [MONDAY] })).toMatchObject({ name: null, slots: [{ ...MONDAY, timezone: 'UTC' }] });
  });

  test('a new default takes the place of the old one in its scope alone', async () => {
    const workspaceId = await aWorkspace();
    const [ofAll, first] = [await home.schedule({ slots: [MONDAY] }), await home.schedule({ slots: [MONDAY], workspace_id: workspaceId })];
    const second = await home.schedule({ slots: [MONDAY], workspace_id: workspaceId, set_as_default: true });
    expect([second.is_default, (await read(ofAll.id)).is_default]).toEqual([true, true]);
    expect(await read(first.id)).toMatchObject({ is_default: false, revision: 2 });
    expect((await home.schedule({ slots: [MONDAY], workspace_id: workspaceId })).is_default).toBe(false);
  });

  test('409 LIMIT_REACHED for the twenty-first of a scope, also when many come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 24 }, () => home.send('POST', '/v1/queue/slots', { slots: [MONDAY] })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(new Set(answers.filter(({ status }) => status !== 201).map((answer) => codeOf(answer).join(' ')))).toEqual(new Set(['409 LIMIT_REACHED']));
    expect((await home.send('GET', '/v1/queue/slots?limit=100')).body.data.filter((one: any) => one.is_default)).toHaveLength(1);
    await home.schedule({ slots: [MONDAY], workspace_id: await aWorkspace() });
  });

  test.each([
    ['no slots', {}, ['slots']],
    ['an empty list of slots', { slots: [] }, ['slots']],
    ['169 slots', { slots: Array.from({ length: 169 }, () => MONDAY) }, ['slots']],
    ['a day that does not exist', { slots: [{ day_of_week: 7, time: '09:00' }] }, ['slots', 0, 'day_of_week']],
    ['half a day', { slots: [{ day_of_week: 1.5, time: '09:00' }] }, ['slots', 0, 'day_of_week']],
    ['24:00', { slots: [{ day_of_week: 1, time: '24:00' }] }, ['slots', 0, 'time']],
    ['9:00', { slots: [{ day_of_week: 1, time: '9:00' }] }, ['slots', 0, 'time']],
    ['seconds', { slots: [{ day_of_week: 1, time: '09:00:00' }] }, ['slots', 0, 'time']],
    ['an offset for a zone', { slots: [MONDAY], timezone: '+01:00' }, ['timezone']],
    ['a zone of no place', { slots: [{ ...MONDAY, timezone: 'Mars/Base' }] }, ['slots', 0, 'timezone']],
    ['a name of 101 characters', { slots: [MONDAY], name: 'x'.repeat(101) }, ['name']],
    ['both names of one field', { slots: [MONDAY], is_default: true, set_as_default: true }, []],
    ['a misspelt field', { slots: [MONDAY], slot: [] }, ['slot']],
  ])('422 for %s', async (_what, body, path) => {
    const answer = await home.send('POST', '/v1/queue/slots', body);
    expect(codeOf(answer)).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.body.error.details.issues[0].path).toEqual(path);
  });

  test('168 slots are allowed', async () => {
    const slots = Array.from({ length: 168 }, (_, index) => ({ day_of_week: index % 7, time: `${String(Math.floor(index / 7)).padStart(2, '0')}:00` }));
    expect((await home.schedule({ slots })).slots).toHaveLength(168);
  });

  test('a key of one workspace makes its own; the organization takes a key for all', async () => {
    const [mine, other] = [await aWorkspace(), await aWorkspace()];
    const key = await scopedKey(mine);
    const post = (body: object, secret = key) => home.send('POST', '/v1/queue/slots', { slots: [MONDAY], ...body }, secret);
    expect((await post({})).body.workspace_id).toBe(mine);
    expect(codeOf(await post({ workspace_id: null }))).toEqual([403, 'FORBIDDEN']);
    expect(codeOf(await post({ workspace_id: other }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await post({}, await scopedKey(mine, other)))).toEqual([400, 'WORKSPACE_ID_REQUIRED']);
    expect(codeOf(await post({ workspace_id: await aWorkspace('archived') }, home.key.secret))).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
    expect(codeOf(await post({ workspace_id: 'ws_nobody' }, home.key.secret))).toEqual([404, 'NOT_FOUND']);
  });
});

describe.each(['PATCH', 'PUT'])('%s /v1/queue/slots/{id}', (method) => {
  test('changes what is given; slots are replaced whole', async () => {
    const { id } = await home.schedule({ name: 'Old', slots: [MONDAY], timezone: 'Europe/Berlin' });
    const answer = await home.send(method, `/v1/queue/slots/${id}`, { slots: [{ day_of_week: 2, time: '10:00' }], expected_revision: 1 });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ name: 'Old', slots: [{ day_of_week: 2, time: '10:00', timezone: 'UTC' }], revision: 2 });
    expect((await home.send(method, `/v1/queue/slots/${id}`, { name: null })).body).toMatchObject({ name: null, revision: 3 });
    expect(await read(id)).toMatchObject({ name: null, slots: [{ day_of_week: 2, time: '10:00', timezone: 'UTC' }], revision: 3 });
  });

  test('200 and nothing changes where nothing differs', async () => {
    const schedule = await home.schedule({ slots: [MONDAY] });
    for (const body of [{}, { slots: [MONDAY, MONDAY] }, { is_default: true }, { timezone: 'Asia/Tokyo' }]) {
      const answer = await home.send(method, `/v1/queue/slots/${schedule.id}`, body);
      expect([answer.status, answer.body]).toEqual([200, schedule]);
    }
  });

  test('409 REVISION_CONFLICT for a stale revision, with the one it has', async () => {
    const { id } = await home.schedule({ slots: [MONDAY] });
    const answer = await home.send(method, `/v1/queue/slots/${id}`, { name: 'x', expected_revision: 2 });
    expect(codeOf(answer)).toEqual([409, 'REVISION_CONFLICT']);
    expect(answer.body.error.details.current_revision).toBe(1);
  });

  test('makes it the default; a default cannot stop being one by itself', async () => {
    const [first, second] = [await home.schedule({ slots: [MONDAY] }), await home.schedule({ slots: [MONDAY] })];
    expect(codeOf(await home.send(method, `/v1/queue/slots/${first.id}`, { is_default: false }))).toEqual([400, 'BAD_REQUEST']);
    expect((await home.send(method, `/v1/queue/slots/${second.id}`, { is_default: false })).body).toEqual(second);
    expect((await home.send(method, `/v1/queue/slots/${second.id}`, { is_default: true })).body).toMatchObject({ is_default: true, revision: 2 });
    expect(await read(first.id)).toMatchObject({ is_default: false, revision: 2 });
  });

  test('a key of one workspace reads what the organization shares, and changes it not', async () => {
    const { id } = await home.schedule({ slots: [MONDAY] });
    const key = await scopedKey(await aWorkspace());
    expect((await home.send('GET', `/v1/queue/slots/${id}`, undefined, key)).status).toBe(200);
    const answer = await home.send(method, `/v1/queue/slots/${id}`, { name: 'x' }, key);
    expect([codeOf(answer), answer.body.error.details.reason]).toEqual([[403, 'FORBIDDEN'], 'scope_all_required']);
  });
});

describe('DELETE /v1/queue/slots/{id}', () => {
  test('204; the place of a default goes to the oldest left of its scope', async () => {
    const workspaceId = await aWorkspace();
    const [first, second, third] = [await home.schedule({ slots: [MONDAY] }), await home.schedule({ slots: [MONDAY] }), await home.schedule({ slots: [MONDAY] })];
    const elsewhere = await home.schedule({ slots: [MONDAY], workspace_id: workspaceId });
    expect((await home.send('DELETE', `/v1/queue/slots/${third.id}`)).status).toBe(204);
    expect((await read(first.id)).is_default).toBe(true);
    expect((await home.send('DELETE', `/v1/queue/slots/${first.id}`)).status).toBe(204);
    expect(await read(second.id)).toMatchObject({ is_default: true, revision: 2 });
    expect(codeOf(await home.send('DELETE', `/v1/queue/slots/${first.id}`))).toEqual([404, 'NOT_FOUND']);
    expect((await home.send('DELETE', `/v1/queue/slots/${second.id}`)).status).toBe(204);
    expect(await read(elsewhere.id)).toEqual(elsewhere);
  });
});

describe('PUT and DELETE /v1/queue/slots', () => {
  test('mean the default of the workspace of the query, or the organization', async () => {
    const workspaceId = await aWorkspace();
    await home.schedule({ slots: [MONDAY] });
    const own = await home.schedule({ slots: [MONDAY], workspace_id: workspaceId });
    const put = (query: string, body: object, key?: string) => home.send('PUT', `/v1/queue/slots${query}`, body, key);
    expect((await put('', { name: 'All' })).body).toMatchObject({ name: 'All', workspace_id: null });
    expect((await put(`?workspace_id=${workspaceId}`, { name: 'Own', slots: [{ day_of_week: 5, time: '12:00' }], timezone: 'Asia/Tokyo' })).body)
      .toMatchObject({ id: own.id, name: 'Own', slots: [{ day_of_week: 5, time: '12:00', timezone: 'Asia/Tokyo' }] });
    expect((await put('', { name: 'Ours' }, await scopedKey(workspaceId))).body).toMatchObject({ id: own.id, name: 'Ours' });
    expect((await home.send('DELETE', `/v1/queue/slots?workspace_id=${workspaceId}`)).status).toBe(204);
    expect(codeOf(await put(`?workspace_id=${workspaceId}`, { name: 'x' }))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await home.send('DELETE', `/v1/queue/slots?workspace_id=${workspaceId}`))).toEqual([404, 'NOT_FOUND']);
    expect((await home.send('DELETE', '/v1/queue/slots')).status).toBe(204);
  });
});

describe('GET /v1/queue/slots', () => {
  test('defaults first, then by name, those without one last; page by page without a gap', async () => {
    for (const name of ['m', 'z', null, 'a', 'a', 'Ä']) await home.schedule({ name, slots: [MONDAY] });
    const names: (string | null)[] = [];
    let cursor = '';
    do {
      const { body } = await home.send('GET', `/v1/queue/slots?limit=2&cursor=${cursor}`);
      names.push(...body.data.map((one: any) => one.name));
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    expect(names[0]).toBe('m');
    expect(names.slice(1)).toEqual([...names.slice(1, -1).toSorted((x, y) => (x! < y! ? -1 : 1)), null]);
    expect(names).toHaveLength(6);
  });

  test('of a workspace: those of it; a key of it sees the shared ones too, and none of another', async () => {
    const [mine, other] = [await aWorkspace(), await aWorkspace()];
    const [ofAll, own, theirs] = [await home.schedule({ slots: [MONDAY] }), await home.schedule({ slots: [MONDAY], workspace_id: mine }), await home.schedule({ slots: [MONDAY], workspace_id: other })];
    const idsOf = async (query: string, key?: string) => (await home.send('GET', `/v1/queue/slots${query}`, undefined, key)).body.data.map((one: any) => one.id).sort();
    expect(await idsOf(`?workspace_id=${mine}`)).toEqual([own.id]);
    expect(await idsOf('')).toEqual([ofAll.id, own.id, theirs.id].sort());
    expect(await idsOf('', await scopedKey(mine))).toEqual([ofAll.id, own.id].sort());
    expect(codeOf(await home.send('GET', '/v1/queue/slots?workspace_id=ws_nobody'))).toEqual([404, 'NOT_FOUND']);
    expect(await idsOf(`?from=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
  });
});
