import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TargetEntity } from '../../../infra/db/entities/target.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { codeOf, inSeconds, openWorld, targetOf, type World } from './world.ts';

let world: World;
let brand: string;
let named: { twitter: string; mastodon: string };

beforeAll(async () => {
  world = await openWorld();
  const { api, org } = world;
  brand = (await workspace(api.infra, { organizationId: org.id })).id;
  named = {
    twitter: (await account(api.infra, { organizationId: org.id, platform: 'twitter', workspaceId: brand, displayName: 'Acme on X' })).id,
    mastodon: (await account(api.infra, { organizationId: org.id, platform: 'mastodon', workspaceId: brand, displayName: null, username: 'acme' })).id,
  };
});
afterAll(() => world.close());

const create = async (path: string, body: Record<string, unknown>) => {
  const answer = await world.send('POST', path, body);
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
};
const template = (content: string, more: Record<string, unknown> = {}) => create('/v1/content-templates', { name: 'T', content, ...more });
const signature = (content: string, more: Record<string, unknown> = {}) => create('/v1/signatures', { name: 'S', content, is_default: true, ...more });
const remove = (path: string) => world.send('DELETE', path);
const patch = (id: string, body: Record<string, unknown>) => world.send('PATCH', `/v1/posts/${id}`, body);
const textsOf = async (postId: string) => (await inScope(world.api.infra.db, SYSTEM, (tx) => tx.find(TargetEntity, { postId }, { orderBy: { position: 'asc' } }))).map((target) => target.text);
const both = (more: Record<string, unknown>) => world.accepted({ targets: [named.twitter, named.mastodon], scheduled_at: inSeconds(3_600), ...more });
const tomorrow = () => inSeconds(86_400);

describe('templates', () => {
  test('variables, overrides by platform, the name of the account and the day', async () => {
    const made = await template('{{greeting}} from {{ account_name }} on {{date}}', { platform_overrides: { mastodon: 'Toot: {{greeting}}' } });
    const post = await both({ template_id: made.id, template_variables: { greeting: 'Hi {{date}}' }, scheduled_at: `${tomorrow().slice(0, 10)}T23:30:00-05:00`, timezone: 'Asia/Tokyo' });
    const day = new Date(Date.parse(post.scheduled_at) + 9 * 3_600_000).toISOString().slice(0, 10);
    expect(await textsOf(post.id)).toEqual([`Hi {{date}} from Acme on X on ${day}`, 'Toot: Hi {{date}}']);
    expect([post.content, post.template_id]).toEqual([`Hi {{date}} from {{ account_name }} on ${day}`, made.id]);
  });

  test('a name that all targets share is put into the shared text; the caller wins over what is built in', async () => {
    const made = await template('{{account_name}} {{date}}');
    const one = await world.accepted({ targets: [named.twitter], scheduled_at: tomorrow(), template_id: made.id, template_variables: { date: 'today' } });
    expect(one.content).toBe('Acme on X today');
  });

  test('explicit content takes precedence, the empty text too', async () => {
    const made = await template('from the template');
    expect((await both({ template_id: made.id, content: 'explicit {{date}}' })).content).toBe('explicit {{date}}');
    expect(codeOf(await world.post({ targets: [named.twitter], scheduled_at: tomorrow(), template_id: made.id, content: '' }))).toEqual([400, 'CONTENT_REQUIRED']);
    expect((await both({ template_id: made.id, content: null })).content).toBe('from the template');
  });

  test('a variable without a value: 400 with its name; a draft keeps it', async () => {
    const made = await template('{{who}} and {{what}}');
    const refused = await world.post({ targets: [named.twitter], scheduled_at: tomorrow(), template_id: made.id, template_variables: { who: 'I' } });
    expect([...codeOf(refused), refused.body.error.details]).toEqual([400, 'TEMPLATE_VARIABLE_UNRESOLVED', { variables: ['what'] }]);
    const draft = await world.accepted({ targets: [named.twitter], scheduled_at: 'draft', template_id: made.id, template_variables: { who: 'I' } });
    expect(draft.content).toBe('{{who}} and {{what}}');
    expect(codeOf(await patch(draft.id, { scheduled_at: tomorrow() }))).toEqual([400, 'TEMPLATE_VARIABLE_UNRESOLVED']);
    const scheduled = await patch(draft.id, { scheduled_at: tomorrow(), template_variables: { who: 'I', what: 'this' } });
    expect([scheduled.status, scheduled.body.content]).toEqual([200, 'I and this']);
  });

  test('what is edited or deleted later changes no post; a change of time renders the same text again', async () => {
    const made = await template('frozen {{date}}');
    const post = await both({ template_id: made.id, timezone: 'UTC' });
    await world.send('PATCH', `/v1/content-templates/${made.id}`, { content: 'edited' });
    await remove(`/v1/content-templates/${made.id}`);
    const at = inSeconds(9 * 86_400);
    const later = await patch(post.id, { scheduled_at: at });
    expect([later.body.content, later.body.template_id]).toEqual([`frozen ${at.slice(0, 10)}`, made.id]);
    expect(await textsOf(post.id)).toEqual([`frozen ${at.slice(0, 10)}`, `frozen ${at.slice(0, 10)}`]);
  });

  test('PATCH: content ends the template as source, a new template is one again', async () => {
    const first = await template('first');
    const second = await template('second');
    const post = await both({ template_id: first.id });
    expect((await patch(post.id, { content: 'own' })).body).toMatchObject({ content: 'own', template_id: first.id });
    expect((await patch(post.id, { template_id: second.id })).body).toMatchObject({ content: 'second', template_id: second.id });
    expect((await patch(post.id, { template_id: null })).body).toMatchObject({ content: 'second', template_id: null });
  });

  test('of another workspace: 400; unknown or of the other mode: 404', async () => {
    const other = (await workspace(world.api.infra, { organizationId: world.org.id })).id;
    const foreign = await template('x', { workspace_id: other });
    expect(codeOf(await world.post({ targets: [named.twitter], scheduled_at: 'draft', template_id: foreign.id }))).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
    expect(codeOf(await world.post({ targets: [named.twitter], scheduled_at: 'draft', template_id: `tmpl_${'0'.repeat(32)}` }))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    const stranger = (await apiKey(world.api.infra, { organizationId: (await organization(world.api.infra)).id })).secret;
    expect(codeOf(await world.post({ targets: ['twitter'], scheduled_at: 'draft', template_id: foreign.id }, { key: stranger }))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
  });

  test('a small template with large values has the limit of a text that is given whole', async () => {
    const made = await template('{{v}}'.repeat(100));
    const body = { targets: [named.twitter], scheduled_at: 'draft', template_id: made.id, template_variables: { v: 'x'.repeat(5_000) } };
    const refused = await world.post(body);
    expect([...codeOf(refused), refused.body.error.details.issues[0].path]).toEqual([422, 'VALIDATION_ERROR', ['template_variables']]);
    expect((await world.post({ ...body, template_variables: { v: 'x'.repeat(1_000) } })).status).toBe(201);
  });

  test('lists find a post by its template', async () => {
    const made = await template('to be found');
    const post = await both({ template_id: made.id });
    expect((await world.send('GET', `/v1/posts?template_id=${made.id}`)).body.data.map((one: any) => one.id)).toEqual([post.id]);
  });
});

describe('signatures', () => {
  test('appended, or put before; the workspace wins over the organization; never twice; not for its absence', async () => {
    const organizations = await signature('-- org');
    const outside = await world.accepted({ targets: [world.mastodon.id], scheduled_at: tomorrow(), content: 'a  \n' });
    expect([outside.content, outside.signature_id]).toEqual(['a\n\n-- org', organizations.id]);
    const brands = await signature('Brand says', { workspace_id: brand, position: 'prepend' });
    const inside = await both({ content: 'hello', target_options: { mastodon: { content: 'toot' } } });
    expect(await textsOf(inside.id)).toEqual(['Brand says\n\nhello', 'Brand says\n\ntoot']);
    expect([inside.content, inside.signature_id, inside.skip_signature]).toEqual(['Brand says\n\nhello', brands.id, false]);
    expect((await both({ content: 'Brand says so' })).content).toBe('Brand says so');
    expect(await both({ content: 'bare', skip_signature: true })).toMatchObject({ content: 'bare', signature_id: null, skip_signature: true });
    await remove(`/v1/signatures/${organizations.id}`);
    await remove(`/v1/signatures/${brands.id}`);
  });

  test('frozen with the post: a change keeps the old one until the wish itself changes', async () => {
    const old = await signature('old', { workspace_id: brand });
    const post = await both({ content: 'text' });
    await world.send('PATCH', `/v1/signatures/${old.id}`, { content: 'new' });
    expect((await patch(post.id, { content: 'other' })).body.content).toBe('other\n\nold');
    expect((await patch(post.id, { content: 'other\n\nold' })).body.content).toBe('other\n\nold');
    expect((await patch(post.id, { skip_signature: true })).body).toMatchObject({ signature_id: null });
    expect((await patch(post.id, { content: 'third', skip_signature: false })).body).toMatchObject({ content: 'third\n\nnew', signature_id: old.id });
    await remove(`/v1/signatures/${old.id}`);
  });

  test('a draft is signed when it is scheduled, and bare again when it is taken back', async () => {
    const made = await signature('sig', { workspace_id: brand });
    const draft = await world.accepted({ targets: [named.twitter], scheduled_at: 'draft', content: 'drafted' });
    expect([draft.content, draft.signature_id]).toEqual(['drafted', null]);
    expect((await world.send('GET', `/v1/posts/${draft.id}/targets`)).body.data[0].text).toBe('drafted\n\nsig');
    expect((await patch(draft.id, { scheduled_at: tomorrow() })).body).toMatchObject({ content: 'drafted\n\nsig', signature_id: made.id });
    expect((await world.send('POST', `/v1/posts/${draft.id}/cancel`)).body).toMatchObject({ status: 'draft', content: 'drafted', signature_id: null });
    await remove(`/v1/signatures/${made.id}`);
  });

  test('too long with it: the finding tells its share', async () => {
    const made = await signature('x'.repeat(30), { workspace_id: brand });
    const answer = await world.post({ targets: [named.twitter], scheduled_at: tomorrow(), content: 'y'.repeat(260) });
    expect(codeOf(answer)).toEqual([422, 'PREFLIGHT_FAILED']);
    expect(answer.body.error.details.issues).toEqual([expect.objectContaining({ code: 'CONTENT_TOO_LONG', message: expect.stringContaining('The signature takes 32'), details: expect.objectContaining({ signature_length: 32 }) })]);
    await remove(`/v1/signatures/${made.id}`);
  });

  test('skip_signature: false takes the default of now, whatever was frozen', async () => {
    const made = await signature('SIG1', { workspace_id: brand });
    const post = await both({ content: 'renewed' });
    await world.send('PATCH', `/v1/signatures/${made.id}`, { content: 'SIG2' });
    const changed = await patch(post.id, { skip_signature: false });
    expect([changed.body.content, changed.body.revision]).toEqual(['renewed\n\nSIG2', 2]);
    await remove(`/v1/signatures/${made.id}`);
  });

  test('a copy of a draft is a draft as it was: its words are rendered when it goes out', async () => {
    const made = await signature('late', { workspace_id: brand });
    const words = await template('for {{who}}');
    const draft = await world.accepted({ targets: [named.twitter], scheduled_at: 'draft', template_id: words.id, template_variables: { who: 'you' } });
    const copy = (await world.send('POST', `/v1/posts/${draft.id}/duplicate`, { scheduled_at: tomorrow() })).body;
    expect(copy).toMatchObject({ content: 'for you\n\nlate', signature_id: made.id, skip_signature: false, template_id: null });
    await remove(`/v1/signatures/${made.id}`);
  });

  test('a copy with another text has none of the source\'s words, its signature neither; texts of its own keep theirs', async () => {
    const made = await signature('mine', { workspace_id: brand });
    const post = await both({ content: 'shared', target_options: { twitter: { content: 'own' } } });
    expect((await world.send('POST', `/v1/posts/${post.id}/duplicate`, { content: 'brand new' })).body).toMatchObject({ content: 'brand new', signature_id: null, skip_signature: true });
    const copy = (await world.send('POST', `/v1/posts/${post.id}/duplicate`)).body;
    await remove(`/v1/posts/${post.id}`);
    await patch(copy.id, { scheduled_at: tomorrow() });
    expect(await textsOf(copy.id)).toEqual(['own\n\nmine', 'shared\n\nmine']);
    await remove(`/v1/signatures/${made.id}`);
  });

  test('a copy of what a template says to each account says it to each again', async () => {
    const words = await template('I am {{account_name}}', { platform_overrides: { mastodon: 'Toot of {{account_name}}' } });
    const post = await both({ template_id: words.id });
    await remove(`/v1/posts/${post.id}`);
    const other = await both({ template_id: words.id });
    const copy = (await world.send('POST', `/v1/posts/${other.id}/duplicate`)).body;
    await remove(`/v1/posts/${other.id}`);
    expect((await patch(copy.id, { scheduled_at: tomorrow() })).status).toBe(200);
    expect(await textsOf(copy.id)).toEqual(['I am Acme on X', 'Toot of acme']);
  });

  test('a copy has the text with its signature, and is not signed again', async () => {
    const made = await signature('signed', { workspace_id: brand });
    const post = await both({ content: 'to copy' });
    const copy = (await world.send('POST', `/v1/posts/${post.id}/duplicate`)).body;
    expect(copy).toMatchObject({ content: 'to copy\n\nsigned', signature_id: made.id, skip_signature: true });
    expect((await world.send('POST', `/v1/posts/${copy.id}/duplicate`)).body).toMatchObject({ content: 'to copy\n\nsigned', signature_id: made.id, skip_signature: true });
    await remove(`/v1/posts/${post.id}`);
    expect((await patch(copy.id, { scheduled_at: tomorrow() })).body).toMatchObject({ content: 'to copy\n\nsigned', signature_id: made.id });
    await remove(`/v1/signatures/${made.id}`);
  });
});

describe('tags', () => {
  test('are given by id, shown by name, replaced by a change, copied', async () => {
    const tags = [await create('/v1/tags', { name: 'zebra', color: '#00ff00' }), await create('/v1/tags', { name: 'apple', color: '#FF0000' })];
    const post = await both({ content: 'tagged', tag_ids: [tags[0].id, tags[1].id, tags[0].id] });
    expect(post.tags).toEqual([{ id: tags[1].id, name: 'apple', color: '#FF0000' }, { id: tags[0].id, name: 'zebra', color: '#00FF00' }]);
    const read = () => world.send('GET', `/v1/posts/${post.id}`);
    expect((await read()).body.tags).toEqual(post.tags);
    expect((await world.send('GET', `/v1/posts?tag_id=${tags[0].id}`)).body.data.map((one: any) => [one.id, one.tags.length])).toEqual([[post.id, 2]]);
    const changed = await patch(post.id, { tag_ids: [tags[0].id] });
    expect([changed.body.tags.length, changed.body.revision]).toEqual([1, 2]);
    expect((await patch(post.id, { tag_ids: [tags[0].id] })).body.revision).toBe(2);
    expect((await world.send('POST', `/v1/posts/${post.id}/duplicate`)).body.tags).toEqual(changed.body.tags);
    expect((await world.send('POST', `/v1/posts/${post.id}/cancel`)).body.tags).toEqual(changed.body.tags);
    expect((await patch(post.id, { tag_ids: null })).body.tags).toEqual([]);
    expect(codeOf(await patch(post.id, { tag_ids: [`tag_${'0'.repeat(32)}`] }))).toEqual([404, 'TAG_NOT_FOUND']);
  });
});

describe('the duplicate guard', () => {
  test('the same text on the same account within a day: refused where the platform refuses it, a warning elsewhere', async () => {
    const first = await world.accepted({ targets: [named.twitter, named.mastodon], scheduled_at: tomorrow(), content: 'Guarded  text https://a.example/?utm_source=x&id=1' });
    const same = { targets: [named.twitter], scheduled_at: inSeconds(86_400 + 3_600), content: 'guarded text\nhttps://a.example/?id=1' };
    const refused = await world.post(same);
    expect([...codeOf(refused), refused.body.error.details.issues[0]]).toEqual([422, 'PREFLIGHT_FAILED', expect.objectContaining({
      code: 'DUPLICATE_CONTENT', account_id: named.twitter, details: { post_id: first.id, target_id: targetOf(first, named.twitter).target_id, at: first.scheduled_at },
    })]);
    expect((await world.post({ ...same, targets: [named.mastodon] })).headers.get('oncepost-warnings')).not.toBe('0');
    expect((await world.post({ ...same, allow_duplicate: true })).status).toBe(201);
  });

  test('not counted: drafts, deleted posts, other accounts, other days, other media, the post itself', async () => {
    const first = await world.accepted({ targets: [named.twitter], scheduled_at: tomorrow(), content: 'once only' });
    const same = { targets: [named.twitter], scheduled_at: tomorrow(), content: 'once only' };
    expect((await patch(first.id, { scheduled_at: inSeconds(86_000) })).status).toBe(200);
    expect((await world.post({ ...same, targets: [world.twitter.id] })).status).toBe(201);
    expect((await world.post({ ...same, scheduled_at: inSeconds(4 * 86_400) })).status).toBe(201);
    expect((await world.post({ ...same, media: [{ url: 'https://a.example/a.png' }] })).status).toBe(201);
    expect((await world.post({ ...same, scheduled_at: 'draft' })).status).toBe(201);
    expect(codeOf(await world.post(same))).toEqual([422, 'PREFLIGHT_FAILED']);
    await remove(`/v1/posts/${first.id}`);
    expect((await world.post(same)).status).toBe(201);
  });
});

test('shorten_urls is of the Pro plan: refused by name on the free one, open to test keys, a warning where it takes no effect', async () => {
  const free = (await organization(world.api.infra, { plan: 'free', quotaMode: 'hard', quotaUnits: 200 })).id;
  await account(world.api.infra, { organizationId: free, mode: 'live', platform: 'mastodon', metadata: { instance: 'https://mastodon.example' } });
  await account(world.api.infra, { organizationId: free, platform: 'mastodon' });
  const keys = { live: (await apiKey(world.api.infra, { organizationId: free, mode: 'live' })).secret, test: (await apiKey(world.api.infra, { organizationId: free })).secret };
  const body = { targets: ['mastodon'], scheduled_at: 'draft', content: 'x', shorten_urls: true };
  const refused = await world.post(body, { key: keys.live });
  expect([...codeOf(refused), refused.body.error.details]).toEqual([403, 'PLAN_UPGRADE_REQUIRED', { features: ['shorten_urls'] }]);
  expect((await world.post({ ...body, shorten_urls: false }, { key: keys.live })).status).toBe(201);
  const accepted = await world.post(body, { key: keys.test });
  expect([accepted.status, accepted.body.shorten_urls, Number(accepted.headers.get('oncepost-warnings')) > 0]).toEqual([201, true, true]);
});
