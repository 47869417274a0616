import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ROUTES } from '../../api/routes.ts';
import { isPublic, type RouteSpec } from '../../api/route.ts';
import { account, apiKey, organization, workspace } from '../support/factories.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { unknownAttempt } from '../support/operations.ts';

/*
 * The matrix of who may touch what, generated from the route table: a route that is added is in it. Every path id is
 * tried as another organization, another mode, another workspace, and without the right key.
 */

const ROUTE_LIST = ROUTES.filter((route): route is RouteSpec => !isPublic(route));
const WITH_IDS = ROUTE_LIST.filter((route) => route.path.includes('{') && !route.path.startsWith('/v1/sandbox'));

let api: TestApi;
let ids: Record<string, string>;
let keys: Record<'own' | 'foreign' | 'live' | 'otherWorkspace' | 'readOnly' | 'disabled' | 'expired', string>;

beforeAll(async () => {
  api = await startApi({ env: { TRUSTED_PROXIES: '127.0.0.1/32' } });
  const { infra } = api;
  const home = (await organization(infra)).id;
  const elsewhere = (await organization(infra)).id;
  const mine = await workspace(infra, { organizationId: home });
  const other = await workspace(infra, { organizationId: home });
  const owned = await account(infra, { organizationId: home, workspaceId: mine.id });
  const { post, target, operation } = await unknownAttempt(infra, { account: owned });
  ids = { post: post.id, target: target.id, operation: operation.id, account: owned.id };
  const key = async (options: Partial<Parameters<typeof apiKey>[1]>) => (await apiKey(infra, { organizationId: home, ...options })).secret;
  keys = {
    own: await key({}),
    foreign: await key({ organizationId: elsewhere }),
    live: await key({ mode: 'live' }),
    otherWorkspace: await key({ workspaceScope: [other.id] }),
    readOnly: await key({ permissions: ['read'] }),
    disabled: await key({ enabled: false }),
    expired: await key({ expiresAt: new Date(Date.now() - 1_000) }),
  };
  const made = async (path: string, body: Record<string, unknown>): Promise<string> => (await api.send('POST', path, { key: keys.own, body: { ...body, workspace_id: mine.id } })).body.id;
  ids.signature = await made('/v1/signatures', { name: 'Team', content: 'Hello' });
  ids.template = await made('/v1/content-templates', { name: 'Launch', content: 'Hello' });
  ids.tag = await made('/v1/tags', { name: 'Hello', color: '#000000' });
  ids.queue = await made('/v1/queue/slots', { name: 'Hello', slots: [{ day_of_week: 1, time: '09:00' }] });
}, 60_000);

afterAll(async () => {
  await api?.close();
});

/** The noun whose id the first parameter of a path names. */
const NOUNS: Record<string, string> = { posts: 'post', operations: 'operation', accounts: 'account', signatures: 'signature', 'content-templates': 'template', tags: 'tag', queue: 'queue' };

/** The path with real ids of the home organization, whatever noun each one names. */
function pathOf(route: RouteSpec): string {
  const noun = route.path.startsWith('/v1/posts/logs/') ? 'target' : NOUNS[route.path.split('/')[2]!]!;
  return route.path.replace('{target_id}', ids.target!).replace('{tag_id}', ids.tag!).replace(/\{\w+\}/, ids[noun]!);
}

/** A body that passes the schema where there is one, so that the ids alone decide. */
function bodyOf(route: RouteSpec): Record<string, unknown> | undefined {
  if (route.method === 'GET' || route.method === 'DELETE') return undefined;
  if (route.path.endsWith('/verdict')) return { outcome: 'not_published', reason: 'somebody else', expected_revision: 1 };
  if (route.path.endsWith('/reconcile')) return { outcome: 'failed', publish_operation_id: ids.operation, error_code: 'x', error_message: 'y' };
  return {};
}

/** Each route is asked from an address of its own, so that the limit of failures from one address is not met. */
const ask = (route: RouteSpec, key: string | undefined, path = pathOf(route)) => api.send(route.method, path, { key, body: bodyOf(route), headers: { 'x-forwarded-for': `198.51.100.${ROUTE_LIST.indexOf(route)}` } });

describe.each(ROUTE_LIST.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
  const concrete = () => (route.path.includes('{') ? route.path.replaceAll(/\{\w+\}/g, ids.post!) : route.path);

  test('401 without a key, with a broken, disabled or expired one', async () => {
    const broken = `${keys.own.slice(0, -1)}${keys.own.endsWith('0') ? '1' : '0'}`;
    for (const key of [undefined, 'nonsense', broken, keys.disabled, keys.expired]) {
      const answer = await ask(route, key, concrete());
      expect([answer.status, answer.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
    }
  });

  test('403 without its permission', async () => {
    if (route.permission === 'read') return;
    const answer = await ask(route, keys.readOnly, concrete());
    expect([answer.status, answer.body.error.code]).toEqual([403, 'FORBIDDEN']);
  });
});

describe.each(WITH_IDS.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
  test('another organization and the other mode see nothing, exactly as for an id that does not exist', async () => {
    const unknown = pathOf(route).replaceAll(/(post|op|acc|pt|sig|tmpl|tag|qs)_[0-9a-f]{32}/g, '$1_00000000000070008000000000000000');
    for (const key of [keys.foreign, keys.live]) {
      const answer = await ask(route, key);
      const none = await ask(route, key, unknown);
      expect(answer.status).toBe(404);
      expect([answer.status, answer.body]).toEqual([none.status, none.body]);
    }
  });

  test('403 from another workspace of the same organization', async () => {
    const answer = await ask(route, keys.otherWorkspace);
    expect([answer.status, answer.body.error.code]).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(answer.text).not.toContain('Hello');
  });
});

describe.each(ROUTE_LIST.filter((route) => route.paged && !route.path.includes('{') && !route.path.startsWith('/v1/sandbox')).map((route) => [route.path, route] as const))('GET %s', (path) => {
  test.each(['foreign', 'live', 'otherWorkspace'] as const)('nothing of ours is in the list of a %s key, nor behind our cursor', async (who) => {
    expect((await api.send('GET', path, { key: keys[who] })).body.data).toEqual([]);
    const ours = await api.send('GET', `${path}?limit=1&account_id=${ids.account}`, { key: keys[who] });
    expect(ours.body.data).toEqual([]);
  });
});
