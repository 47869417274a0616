import { describe, expect, test } from '@jest/globals';
import { account, apiKey, workspace } from '../../support/factories.ts';
import { codeOf, placed, useQueueWorld, type Home, type QueueWorld } from './world.ts';

let world: QueueWorld;
let home: Home;
useQueueWorld((opened, own) => {
  [world, home] = [opened, own];
});

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A whole minute, this many days ahead. */
const inDays = (days: number) => new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + days * DAY_MS);
/** The weekly slot of an instant. */
const weekly = (at: Date) => ({ day_of_week: at.getUTCDay(), time: at.toISOString().slice(11, 16) });
const iso = (at: Date, plusDays = 0) => new Date(at.getTime() + plusDays * DAY_MS).toISOString();
const accountOf = (more: object = {}) => account(world.api.infra, { organizationId: home.organizationId, platform: 'twitter', ...more });
const aWorkspace = async () => (await workspace(world.api.infra, { organizationId: home.organizationId })).id;

describe.each(['/v1/queue/next', '/v1/queue/next-slot'])('GET %s', (path) => {
  test('the first slot of the default schedule that nobody took', async () => {
    const [first, second] = [inDays(2), inDays(3)];
    const { id } = await home.schedule({ slots: [weekly(second), weekly(first)] });
    expect((await home.send('GET', path)).body).toEqual({ next_slot_at: iso(first), queue_id: id, local: iso(first).replace('Z', '+00:00') });
    await placed(world, { account: await accountOf(), at: first });
    expect((await home.send('GET', path)).body.next_slot_at).toBe(iso(second));
  });

  test('404 NO_SLOT without a schedule, and where there is none within 30 days', async () => {
    expect(codeOf(await home.send('GET', path))).toEqual([404, 'NO_SLOT']);
    const at = inDays(2);
    await home.schedule({ slots: [weekly(at)] });
    expect((await home.send('GET', `${path}?after=${iso(at, 28)}`)).status).toBe(404);
    expect((await home.send('GET', `${path}?after=${iso(at, 14)}`)).body.next_slot_at).toBe(iso(at, 21));
  });

  test('for an account, the first that is far enough from its other posts', async () => {
    const at = inDays(2);
    await home.schedule({ slots: [weekly(at)] });
    const [busy, free] = [await accountOf(), await accountOf()];
    await placed(world, { account: busy, at: new Date(at.getTime() + 10 * MINUTE_MS) });
    const next = async (id: string) => (await home.send('GET', `${path}?account_id=${id}`)).body.next_slot_at;
    expect([await next(busy.id), await next(free.id)]).toEqual([iso(at, 7), iso(at)]);
  });

  test("a workspace follows its own default, else the organization's; a named schedule goes before both", async () => {
    const [mine, bare] = [await aWorkspace(), await aWorkspace()];
    const ofAll = await home.schedule({ slots: [weekly(inDays(2))] });
    const own = await home.schedule({ slots: [weekly(inDays(3))], workspace_id: mine });
    const other = await home.schedule({ slots: [weekly(inDays(4))], workspace_id: mine });
    const queueOf = async (query: string, key?: string) => (await home.send('GET', `${path}?${query}`, undefined, key)).body.queue_id;
    expect(await queueOf('')).toBe(ofAll.id);
    expect(await queueOf(`workspace_id=${mine}`)).toBe(own.id);
    expect(await queueOf(`workspace_id=${bare}`)).toBe(ofAll.id);
    expect(await queueOf(`workspace_id=${mine}&queue_id=${other.id}`)).toBe(other.id);
    expect(await queueOf(`account_id=${(await accountOf({ workspaceId: mine })).id}`)).toBe(own.id);
    expect(await queueOf('', (await apiKey(world.api.infra, { organizationId: home.organizationId, workspaceScope: [mine] })).secret)).toBe(own.id);
  });

  test('shows the time in the zone of the slot', async () => {
    await home.schedule({ slots: [{ day_of_week: 0, time: '08:00' }], timezone: 'Asia/Tokyo' });
    expect((await home.send('GET', path)).body.local).toMatch(/T08:00:00\.000\+09:00$/);
  });
});

describe('GET /v1/queue/preview', () => {
  test('the coming slots in order, with who took them; `slots` are the free ones', async () => {
    const [first, second] = [inDays(2), inDays(3)];
    const { id } = await home.schedule({ slots: [weekly(first), weekly(second)] });
    const post = await placed(world, { account: await accountOf(), at: second });
    const { body } = await home.send('GET', '/v1/queue/preview?count=3');
    expect(body.data.map((one: any) => [one.slot_at, one.queue_id, one.taken_by])).toEqual([[iso(first), id, null], [iso(second), id, post.id], [iso(first, 7), id, null]]);
    expect(body.slots).toEqual([iso(first), iso(first, 7)]);
  });

  test('ten unless asked otherwise; nothing without a schedule', async () => {
    expect((await home.send('GET', '/v1/queue/preview')).body).toEqual({ slots: [], data: [] });
    await home.schedule({ slots: [1, 2, 3, 4, 5].map((days) => weekly(inDays(days))) });
    expect((await home.send('GET', '/v1/queue/preview')).body.data).toHaveLength(10);
    expect((await home.send('GET', '/v1/queue/preview?count=50')).body.data.length).toBeGreaterThanOrEqual(20);
    for (const count of ['0', '51', 'x']) expect(codeOf(await home.send('GET', `/v1/queue/preview?count=${count}`))).toEqual([422, 'VALIDATION_ERROR']);
  });
});

describe('GET /v1/queue/find-slot', () => {
  test('smart follows the queue; best-time does not look at it, and says where it knew no better than the defaults', async () => {
    const at = inDays(6);
    const one = await accountOf();
    await home.schedule({ slots: [weekly(at)] });
    const found = async (more: string) => (await home.send('GET', `/v1/queue/find-slot?account_id=${one.id}${more}`)).body;
    for (const more of ['', '&strategy=smart', '&strategy=queue']) {
      expect(await found(more)).toEqual({ slots: [{ slot_at: iso(at), score: expect.any(Number), reason: 'queue_slot', conflicts: 0 }], fallback: false });
    }
    const { slots, fallback } = await found('&strategy=best-time&count=3');
    expect([fallback, slots.length, slots.every((slot: any) => slot.reason === 'default' && /T(?:09|12|17):00:00\.000Z$/.test(slot.slot_at))]).toEqual([true, 3, true]);
  });

  test('several, best first, none at which one of the accounts is busy', async () => {
    const accounts = [await accountOf(), await accountOf({ platform: 'instagram' })];
    const [first, second] = [inDays(2), inDays(3)];
    await home.schedule({ slots: [weekly(first), weekly(second)] });
    await placed(world, { account: accounts[1]!, at: new Date(first.getTime() + 239 * MINUTE_MS) });
    const { body } = await home.send('GET', `/v1/queue/find-slot?count=3&account_id=${accounts.map(({ id }) => id).join(', ')}`);
    expect(body.slots.map((slot: any) => slot.slot_at)).toEqual([iso(second), iso(first, 7), iso(second, 7)]);
  });

  test('in a zone, after a moment; without a schedule `queue` finds none', async () => {
    const one = await accountOf();
    const get = async (more: string) => (await home.send('GET', `/v1/queue/find-slot?account_id=${one.id}${more}`)).body;
    expect((await get('&timezone=Asia/Kolkata&count=10')).slots.every((slot: any) => /T(?:03|06|11):30:00/.test(slot.slot_at))).toBe(true);
    const after = iso(inDays(20));
    expect((await get(`&after=${after}`)).slots[0].slot_at > after).toBe(true);
    expect(await get('&strategy=queue')).toEqual({ slots: [], fallback: false });
  });

  test.each([['', 'account_id'], ['account_id=x&count=11', 'count'], ['account_id=x&strategy=best', 'strategy'], ['account_id=x&timezone=Mars', 'timezone'], ['account_id=x&after=now', 'after'], [`account_id=${'x,'.repeat(21)}`, 'account_id']])('422 for %p', async (query, path) => {
    const answer = await home.send('GET', `/v1/queue/find-slot?${query}`);
    expect([codeOf(answer), answer.body.error.details.issues[0].path[0]]).toEqual([[422, 'VALIDATION_ERROR'], path]);
  });

  test('accounts of two workspaces are no post that a key of these could make', async () => {
    const [a, b] = [await aWorkspace(), await aWorkspace()];
    const accounts = [await accountOf({ workspaceId: a }), await accountOf({ workspaceId: b })];
    const key = (await apiKey(world.api.infra, { organizationId: home.organizationId, workspaceScope: [a, b] })).secret;
    const path = `/v1/queue/find-slot?account_id=${accounts.map(({ id }) => id).join()}`;
    expect(codeOf(await home.send('GET', path, undefined, key))).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
    expect((await home.send('GET', path)).status).toBe(200);
  });
});

describe('what a query names', () => {
  test.each(['next', 'next-slot', 'preview', 'find-slot'])('%s knows no account, schedule or workspace of somebody else, and refuses those that were not granted', async (route) => {
    const elsewhere = await world.home();
    const own = await accountOf();
    const foreign = await account(world.api.infra, { organizationId: elsewhere.organizationId });
    const foreignQueue = await elsewhere.schedule({ slots: [weekly(inDays(1))] });
    const foreignWorkspace = (await workspace(world.api.infra, { organizationId: elsewhere.organizationId })).id;
    const ask = (query: string, key?: string) => home.send('GET', `/v1/queue/${route}?${query}`, undefined, key);
    for (const id of [foreign.id, 'acc_x', 'twitter']) expect(codeOf(await ask(`account_id=${id}`))).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    expect(codeOf(await ask(`account_id=${own.id}&workspace_id=${foreignWorkspace}`))).toEqual([404, 'NOT_FOUND']);
    if (route !== 'find-slot') for (const id of [foreignQueue.id, 'qs_x']) expect(codeOf(await ask(`queue_id=${id}`))).toEqual([404, 'NOT_FOUND']);
    const [granted, other] = [await aWorkspace(), await aWorkspace()];
    const key = (await apiKey(world.api.infra, { organizationId: home.organizationId, workspaceScope: [granted] })).secret;
    const denied = await home.schedule({ slots: [weekly(inDays(1))], workspace_id: other });
    expect(codeOf(await ask(`account_id=${own.id}`, key))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await ask(`account_id=${own.id}&workspace_id=${other}`, key))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    if (route !== 'find-slot') expect(codeOf(await ask(`queue_id=${denied.id}`, key))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
  });
});
