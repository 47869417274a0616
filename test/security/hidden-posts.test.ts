import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiKeyEntity } from '../../infra/db/entities/api-key.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { account, apiKey, organization, workspace } from '../support/factories.ts';
import { startApi, type Answer, type TestApi } from '../support/api.ts';

/*
 * A post of another workspace, or of none, stands in the way of what a credential of one workspace plans: its slot is taken
 * and its text is a repetition. Nothing that the credential is answered names that post.
 */

let api: TestApi;
let organizationId: string;
let mine: string;
let both: string[];
let accountId: string;
let hidden: any;
let slot: string;
let keys: Record<'whole' | 'granted' | 'two', string>;

const TEXT = 'the words that were said before';

beforeAll(async () => {
  api = await startApi();
  organizationId = (await organization(api.infra)).id;
  const spaces = [await workspace(api.infra, { organizationId }), await workspace(api.infra, { organizationId }), await workspace(api.infra, { organizationId })].map(({ id }) => id);
  mine = spaces[0]!;
  const secret = async (workspaceScope: string[] | null) => (await apiKey(api.infra, { organizationId, workspaceScope })).secret;
  keys = { whole: await secret(null), granted: await secret([mine]), two: await secret([mine, spaces[2]!]) };
  accountId = (await account(api.infra, { organizationId, workspaceId: mine })).id;
  both = [accountId, (await account(api.infra, { organizationId, workspaceId: spaces[1]! })).id];
  const inTwoDays = new Date(Date.now() + 2 * 86_400_000);
  await api.send('POST', '/v1/queue/slots', { key: keys.whole, body: { slots: [{ day_of_week: inTwoDays.getUTCDay(), time: '12:00' }] } });
  slot = (await api.send('GET', '/v1/queue/preview?count=1', { key: keys.whole })).body.data[0].slot_at;
  hidden = (await api.send('POST', '/v1/posts', { key: keys.whole, body: { targets: both, scheduled_at: slot, content: TEXT } })).body;
}, 60_000);

afterAll(() => api?.close());

const ask = (who: keyof typeof keys, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => api.send(method, path, { key: keys[who], headers, ...(body === undefined ? {} : { body }) });
const auto = (content: string) => ({ targets: [accountId], scheduled_at: 'auto', content });

function expectNothingOf(post: any, answer: Answer): void {
  expect(answer.text).not.toContain(post.id);
  for (const target of Object.values<any>(post.targets)) expect(answer.text).not.toContain(target.accounts[0].target_id);
}

test('the post in the way belongs to no workspace, and cannot be opened', async () => {
  expect(hidden.workspace_id).toBeNull();
  expect((await ask('granted', 'GET', `/v1/posts/${hidden.id}`)).status).toBe(403);
});

describe('a slot that it has', () => {
  test('is taken in the preview, by nobody who is named', async () => {
    const seen = await ask('granted', 'GET', `/v1/queue/preview?account_id=${accountId}&count=1`);
    expect(seen.body).toMatchObject({ slots: [], data: [{ slot_at: slot, taken_by: null }] });
    // Without a workspace it is the queue of the organization that is looked at.
    expect((await ask('two', 'GET', '/v1/queue/preview?count=1')).body).toMatchObject({ slots: [], data: [{ slot_at: slot, taken_by: null }] });
    expect((await ask('whole', 'GET', `/v1/queue/preview?account_id=${accountId}&count=1`)).body.data[0].taken_by).toBe(hidden.id);
  });

  test('is skipped, and whoever reads why is told the post only where he may see it', async () => {
    const created = await ask('granted', 'POST', '/v1/posts', auto('one'));
    expect(created.status).toBe(201);
    expect(created.body.auto_schedule.skipped).toEqual([{ slot_at: slot, reason: 'minimum_gap', account_id: accountId, post_id: null }]);
    const path = `/v1/posts/${created.body.id}`;
    const answers = [
      created, await ask('granted', 'GET', path), await ask('granted', 'GET', '/v1/posts?include=all'), await ask('granted', 'GET', `${path}/bundle`), await ask('granted', 'GET', `${path}/timeline`),
      await ask('granted', 'PATCH', path, { notes: 'x' }), await ask('granted', 'PATCH', path, { scheduled_at: 'auto' }), await ask('granted', 'POST', '/v1/posts/preflight', auto('two')),
      await ask('granted', 'POST', '/v1/posts/preflight', { post_id: path.slice('/v1/posts/'.length) }), await ask('granted', 'POST', '/v1/posts/bulk', { posts: [auto('three')] }), await ask('granted', 'POST', `${path}/duplicate`, { scheduled_at: 'auto' }),
    ];
    for (const answer of answers) {
      expect([200, 201]).toContain(answer.status);
      expectNothingOf(hidden, answer);
    }
    const read = await ask('whole', 'GET', path);
    expect(read.body.auto_schedule.skipped).toEqual([{ slot_at: slot, reason: 'minimum_gap', account_id: accountId, post_id: hidden.id }]);
    expect((await ask('whole', 'GET', '/v1/posts')).body.data.find((one: any) => one.id === created.body.id).auto_schedule.skipped[0].post_id).toBe(hidden.id);
    expect((await ask('granted', 'POST', `${path}/cancel`)).body.auto_schedule).toBeNull();
  });

  test('was shown to a credential whose scope became narrower: its reply is not shown again', async () => {
    const key = await apiKey(api.infra, { organizationId });
    const send = () => api.send('POST', '/v1/posts', { key: key.secret, body: auto('narrower'), headers: { 'idempotency-key': 'narrower-scope' } });
    expect((await send()).body.auto_schedule.skipped[0].post_id).toBe(hidden.id);
    await inScope(api.infra.db, SYSTEM, (tx) => tx.nativeUpdate(ApiKeyEntity, { id: key.id }, { workspaceScope: [mine] }));
    const again = await send();
    expect([again.status, again.body.error.code]).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
  });
});

test('a copy that was made of a post into no workspace is not named in the timeline of the post', async () => {
  const source = (await ask('granted', 'POST', '/v1/posts', { targets: [accountId], scheduled_at: 'draft', content: 'to be copied' })).body;
  const copy = (await ask('whole', 'POST', `/v1/posts/${source.id}/duplicate`, { targets: both })).body;
  expect(copy.workspace_id).toBeNull();
  const told = async (who: keyof typeof keys) => (await ask(who, 'GET', `/v1/posts/${source.id}/timeline?kind=duplicated`)).body.data[0].data;
  expect([await told('granted'), await told('whole')]).toEqual([{}, { copy_id: copy.id }]);
  expectNothingOf(copy, await ask('granted', 'GET', `/v1/posts/${source.id}/bundle`));
});

describe('a text that it has', () => {
  const repeated = () => ({ targets: [accountId], scheduled_at: slot, content: TEXT });

  test('is a repetition whose other post is not named', async () => {
    const plan = await ask('granted', 'POST', '/v1/posts/preflight', repeated());
    expect(plan.body.accounts[0].duplicate).toBeNull();
    expect(plan.body.issues).toEqual([expect.objectContaining({ code: 'DUPLICATE_CONTENT', severity: 'error', details: { at: slot } })]);
    const refused = await ask('granted', 'POST', '/v1/posts', repeated());
    expect([refused.status, refused.body.error.details.issues]).toEqual([422, plan.body.issues]);
    const bulk = await ask('granted', 'POST', '/v1/posts/bulk', { posts: [repeated()] });
    expect(bulk.body.data[0].error.details.issues).toEqual(plan.body.issues);
    for (const answer of [plan, refused, bulk]) expectNothingOf(hidden, answer);
  });

  test('is one whose other post is named to who may see it', async () => {
    const { body } = await ask('whole', 'POST', '/v1/posts/preflight', repeated());
    const named = { post_id: hidden.id, target_id: hidden.targets[accountId].accounts[0].target_id, at: slot };
    expect([body.accounts[0].duplicate, body.issues[0].details]).toEqual([named, named]);
  });
});
