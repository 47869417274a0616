import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { codeOf, inSeconds, openWorld, targetOf, type World } from './world.ts';

let world: World;
let org: string;
let all: string;
let ws: { brand: string; shop: string; archived: string; empty: string; foreign: string };
let acc: Record<'top' | 'brandMasto' | 'brandTwitter' | 'shopMasto' | 'archivedMasto' | 'broken' | 'gone' | 'foreign' | 'live', Account>;

beforeAll(async () => {
  world = await openWorld();
  const { infra } = world.api;
  org = (await organization(infra)).id;
  const elsewhere = (await organization(infra)).id;
  all = (await apiKey(infra, { organizationId: org })).secret;
  const space = async (name: string, status: 'active' | 'archived' = 'active', organizationId = org) => (await workspace(infra, { organizationId, name, status })).id;
  ws = { brand: await space('brand'), shop: await space('shop'), archived: await space('archived', 'archived'), empty: await space('empty'), foreign: await space('foreign', 'active', elsewhere) };
  let minute = 0;
  const make = (more: Partial<Account>) => account(infra, { organizationId: org, connectedAt: new Date(Date.UTC(2026, 0, 1, 0, (minute += 1))), ...more });
  acc = {
    top: await make({ platform: 'mastodon' }),
    brandMasto: await make({ platform: 'mastodon', workspaceId: ws.brand }),
    brandTwitter: await make({ platform: 'twitter', workspaceId: ws.brand }),
    shopMasto: await make({ platform: 'mastodon', workspaceId: ws.shop }),
    archivedMasto: await make({ platform: 'mastodon', workspaceId: ws.archived }),
    broken: await make({ platform: 'twitter', workspaceId: ws.shop, status: 'reconnect_required', statusReason: 'token_revoked' }),
    gone: await make({ platform: 'mastodon', workspaceId: ws.brand, status: 'disconnected', statusReason: 'by_user' }),
    foreign: await account(infra, { organizationId: elsewhere, platform: 'mastodon' }),
    live: await make({ platform: 'mastodon', mode: 'live' }),
  };
});
afterAll(() => world.close());

const scoped = async (...workspaceScope: string[]) => (await apiKey(world.api.infra, { organizationId: org, workspaceScope })).secret;
const post = (targets: string[], more: Record<string, unknown> = {}, key = all) => world.post({ targets, scheduled_at: 'draft', content: 'x', allow_duplicate: true, ...more }, { key });
const ids = (answer: { body: any }) => Object.keys(answer.body.targets);

describe('selectors', () => {
  test('a platform name: all its usable accounts, oldest connection first', async () => {
    const answer = await post(['mastodon']);
    expect(ids(answer)).toEqual([acc.top.id, acc.brandMasto.id, acc.shopMasto.id]);
    expect(answer.body.workspace_id).toBeNull();
  });

  test('a platform name with workspace_id: in it, or at organization level', async () => {
    const answer = await post(['mastodon'], { workspace_id: ws.shop });
    expect([answer.body.workspace_id, ids(answer)]).toEqual([ws.shop, [acc.top.id, acc.shopMasto.id]]);
  });

  test('a workspace: its own accounts only', async () => {
    const answer = await post([ws.brand]);
    expect([answer.body.workspace_id, ids(answer)]).toEqual([ws.brand, [acc.brandMasto.id, acc.brandTwitter.id]]);
  });

  test('request order, duplicates folded to their first place', async () => {
    expect(ids(await post([acc.shopMasto.id, 'mastodon', acc.top.id, 'mastodon', ws.brand]))).toEqual([acc.shopMasto.id, acc.top.id, acc.brandMasto.id, acc.brandTwitter.id]);
  });

  test('every bad selector is named; nothing is stored', async () => {
    const bad = ['Mastodon', 'myspace', 'acc_1', acc.foreign.id, acc.live.id, `acc_${'0'.repeat(32)}`, 'ws_1', ws.foreign, ws.empty, 'tiktok'];
    const answer = await post(['mastodon', ...bad]);
    expect(codeOf(answer)).toEqual([400, 'INVALID_TARGETS']);
    expect(answer.body.error.details.targets.map((one: any) => [one.target, one.code])).toEqual([
      ['Mastodon', 'INVALID_TARGET'], ['myspace', 'INVALID_TARGET'], ['acc_1', 'ACCOUNT_NOT_FOUND'], [acc.foreign.id, 'ACCOUNT_NOT_FOUND'], [acc.live.id, 'ACCOUNT_NOT_FOUND'],
      [`acc_${'0'.repeat(32)}`, 'ACCOUNT_NOT_FOUND'], ['ws_1', 'WORKSPACE_NOT_FOUND'], [ws.foreign, 'WORKSPACE_NOT_FOUND'], [ws.empty, 'EMPTY_WORKSPACE'], ['tiktok', 'NO_ACCOUNT'],
    ]);
  });

  test('more than 100 accounts', async () => {
    const { infra } = world.api;
    const big = (await organization(infra)).id;
    const key = (await apiKey(infra, { organizationId: big })).secret;
    for (let at = 0; at < 101; at += 1) await account(infra, { organizationId: big, platform: 'mastodon' });
    const answer = await post(['mastodon'], {}, key);
    expect(codeOf(answer)).toEqual([400, 'INVALID_TARGETS']);
    expect(answer.body.error.details).toMatchObject({ count: 101, targets: [{ target: 'mastodon', code: 'TOO_MANY_TARGETS' }] });
  });
});

describe('account states', () => {
  test('disconnected by id: 409, but a draft may wait for it', async () => {
    const answer = await post([acc.gone.id], { scheduled_at: 'now' });
    expect([...codeOf(answer), answer.body.error.details.account_ids]).toEqual([409, 'ACCOUNT_DISCONNECTED', [acc.gone.id]]);
    expect(codeOf(await post([acc.gone.id], { scheduled_at: inSeconds(60) }))).toEqual([409, 'ACCOUNT_DISCONNECTED']);
    const draft = await post([acc.gone.id]);
    expect(draft.status).toBe(201);
    const { issues } = (await world.send('POST', '/v1/posts/preflight', { post_id: draft.body.id }, { key: all })).body;
    expect(issues).toContainEqual(expect.objectContaining({ code: 'ACCOUNT_DISCONNECTED', severity: 'warning', account_id: acc.gone.id }));
  });

  test('to be reconnected, by id: 409 for now, accepted with a warning for later', async () => {
    const answer = await post([acc.broken.id], { scheduled_at: 'now' });
    expect([...codeOf(answer), answer.body.error.details.account_ids]).toEqual([409, 'ACCOUNT_RECONNECT_REQUIRED', [acc.broken.id]]);
    const later = await post([acc.broken.id], { scheduled_at: inSeconds(3_600) });
    expect([later.status, later.body.status, later.headers.get('oncepost-warnings')]).toEqual([201, 'scheduled', '1']);
  });

  test('to be reconnected, by platform or workspace, for now: that target fails at once, the others go on', async () => {
    const { body, status } = await post(['twitter', ws.shop], { scheduled_at: 'now' });
    expect([status, body.status]).toEqual([201, 'publishing']);
    expect(body.targets[acc.broken.id]).toMatchObject({ status: 'failed', error: { code: 'ACCOUNT_RECONNECT_REQUIRED', retryable: true }, accounts: [{ operation_id: null, delivery_state: 'failed', attempt: 0 }] });
    expect(body.targets[acc.shopMasto.id].status).toBe('publishing');
  });

  test('where no target can begin the post has failed, and a retry tries it', async () => {
    const { body } = await post(['twitter'], { scheduled_at: 'now', workspace_id: ws.shop });
    expect(body.status).toBe('failed');
    const retried = await world.send('POST', `/v1/posts/${body.id}/retry`, undefined, { key: all });
    expect([retried.status, retried.body.status, targetOf(retried.body, acc.broken.id).attempt]).toEqual([200, 'publishing', 1]);
  });

  test('named by id and reached by platform: what was named counts', async () => {
    expect(codeOf(await post(['twitter', acc.broken.id], { scheduled_at: 'now' }))).toEqual([409, 'ACCOUNT_RECONNECT_REQUIRED']);
  });
});

describe('workspaces', () => {
  test('accounts of one workspace give the post theirs, also beside organization-level ones', async () => {
    expect((await post([acc.shopMasto.id])).body.workspace_id).toBe(ws.shop);
    expect((await post([acc.top.id, acc.shopMasto.id])).body.workspace_id).toBe(ws.shop);
    expect((await post([acc.top.id])).body.workspace_id).toBeNull();
  });

  test('workspace_id that the accounts do not fit', async () => {
    const answer = await post([acc.top.id, acc.brandMasto.id], { workspace_id: ws.shop });
    expect(codeOf(answer)).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
    expect(answer.body.error.details.account_ids).toEqual([acc.brandMasto.id]);
    expect(codeOf(await post([ws.brand], { workspace_id: ws.shop }))).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
  });

  test.each(['', 'ws_1', `ws_${'0'.repeat(32)}`, 'nonsense'])('workspace_id %s is unknown', async (workspace_id) => {
    const answer = await post(['mastodon'], { workspace_id });
    expect(codeOf(answer)).toEqual([404, 'NOT_FOUND']);
    expect(answer.body.error.details).toEqual({ resource: 'workspace', field: 'workspace_id' });
  });

  test("another organization's workspace is as unknown", async () => {
    expect(codeOf(await post(['mastodon'], { workspace_id: ws.foreign }))).toEqual([404, 'NOT_FOUND']);
  });

  test('an archived workspace takes no posts', async () => {
    for (const answer of [await post(['mastodon'], { workspace_id: ws.archived }), await post([ws.archived]), await post([acc.archivedMasto.id])]) expect(codeOf(answer)).toEqual([409, 'WORKSPACE_NOT_ACTIVE']);
  });

  test('a restricted credential reaches its workspaces only', async () => {
    const key = await scoped(ws.brand);
    expect(ids(await post(['mastodon'], {}, key))).toEqual([acc.brandMasto.id]);
    for (const target of [acc.shopMasto.id, acc.top.id, ws.shop]) expect(codeOf(await post([target], {}, key))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await post(['mastodon'], { workspace_id: ws.shop }, key))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await post([acc.shopMasto.id, 'nothing'], {}, key))).toEqual([400, 'INVALID_TARGETS']);
  });

  test('a credential of two workspaces makes posts in one of them', async () => {
    const key = await scoped(ws.brand, ws.shop);
    const answer = await post(['mastodon'], {}, key);
    expect(codeOf(answer)).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
    expect(answer.body.error.details.workspace_ids).toEqual([ws.brand, ws.shop]);
    expect((await post(['mastodon'], { workspace_id: ws.shop }, key)).body.workspace_id).toBe(ws.shop);
  });

  test('an organization that requires a workspace', async () => {
    const { infra } = world.api;
    const strict = (await organization(infra, { requireWorkspaceId: true })).id;
    const key = (await apiKey(infra, { organizationId: strict })).secret;
    const [one, two] = [(await workspace(infra, { organizationId: strict })).id, (await workspace(infra, { organizationId: strict })).id];
    await account(infra, { organizationId: strict, platform: 'mastodon' });
    const inOne = await account(infra, { organizationId: strict, platform: 'twitter', workspaceId: one });
    const inTwo = await account(infra, { organizationId: strict, platform: 'twitter', workspaceId: two });
    expect(codeOf(await post(['mastodon'], {}, key))).toEqual([400, 'WORKSPACE_ID_REQUIRED']);
    expect(codeOf(await post([inOne.id, inTwo.id], {}, key))).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
    expect((await post(['mastodon', inOne.id], {}, key)).body.workspace_id).toBe(one);
  });

  test('posts of other workspaces and of the organization are denied one by one', async () => {
    const key = await scoped(ws.brand);
    for (const made of [await post([acc.shopMasto.id]), await post([acc.top.id])]) {
      for (const [method, path] of [['GET', ''], ['PATCH', ''], ['DELETE', ''], ['POST', '/retry'], ['GET', '/logs']] as const) {
        expect(codeOf(await world.send(method, `/v1/posts/${made.body.id}${path}`, method === 'PATCH' ? {} : undefined, { key }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
      }
    }
    const own = await post([acc.brandMasto.id]);
    expect((await world.send('GET', `/v1/posts/${own.body.id}`, undefined, { key })).status).toBe(200);
  });
});

describe('options under a workspace', () => {
  test('reach its accounts, each with what its platform has', async () => {
    const answer = await post([ws.brand], { scheduled_at: 'draft', target_options: { [ws.brand]: { visibility: 'unlisted', content: 'ours' } } });
    expect(answer.status).toBe(201);
    const { issues } = (await world.send('POST', '/v1/posts/preflight', { post_id: answer.body.id }, { key: all })).body;
    expect(issues.filter((one: any) => one.code === 'OPTIONS_UNUSED').map((one: any) => [one.path, one.platform])).toEqual([[['target_options', ws.brand, 'visibility'], 'twitter']]);
  });

  test('a value that one of its platforms refuses', async () => {
    const answer = await post([ws.brand], { target_options: { [ws.brand]: { poll: { options: ['a', 'b'], multiple: true } } } });
    expect(codeOf(answer)).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.body.error.details.issues[0].path).toEqual(['target_options', ws.brand, 'poll', 'multiple']);
  });
});

describe('a credential of one workspace', () => {
  test('changes nothing that goes out through an account of the organization', async () => {
    const draft = await world.post({ targets: [acc.top.id], scheduled_at: 'draft', content: 'by the organization', workspace_id: ws.brand }, { key: all });
    expect(draft.status).toBe(201);
    const restricted = (await apiKey(world.api.infra, { organizationId: org, workspaceScope: [ws.brand] })).secret;
    for (const body of [{ content: 'by somebody else' }, { scheduled_at: 'now' }]) {
      expect(codeOf(await world.send('PATCH', `/v1/posts/${draft.body.id}`, body, { key: restricted }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
      expect(codeOf(await world.send('POST', '/v1/posts/preflight', { post_id: draft.body.id, ...body }, { key: restricted }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    }
    expect((await world.send('PATCH', `/v1/posts/${draft.body.id}`, { notes: 'mine' }, { key: restricted })).status).toBe(200);
  });
});
