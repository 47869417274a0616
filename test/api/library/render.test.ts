import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { apiKey, account } from '../../support/factories.ts';
import { codeOf, issuesOf, openLibrary, type Library } from './world.ts';

let library: Library;
let twitter: string;
let telegram: string;
let elsewhere: string;
let template: string;

beforeAll(async () => {
  library = await openLibrary();
  const { api, org, mine, other } = library;
  twitter = (await account(api.infra, { organizationId: org.id, workspaceId: mine, platform: 'twitter', username: 'acme', displayName: 'Acme Inc.' })).id;
  telegram = (await account(api.infra, { organizationId: org.id, platform: 'telegram', username: null })).id;
  elsewhere = (await account(api.infra, { organizationId: org.id, workspaceId: other, platform: 'twitter' })).id;
  template = (await library.made('/v1/content-templates', { name: 't', content: '{{greeting}} from {{account_name}} on {{date}}', platform_overrides: { mastodon: 'Toot {{greeting}}' } })).id;
});
afterAll(() => library.close());

const render = (body: Record<string, unknown> = {}, who?: keyof Library['keys'], id = template) => library.send('POST', `/v1/content-templates/${id}/render`, body, who);

describe('POST /v1/content-templates/{id}/render', () => {
  test('without anything: the text with today, what is missing as it is written, and no length', async () => {
    const before = new Date().toISOString().slice(0, 10);
    const { status, body } = await render();
    const days = [before, new Date().toISOString().slice(0, 10)];
    expect(status).toBe(200);
    expect(days.map((day) => `{{greeting}} from {{account_name}} on ${day}`)).toContain(body.content);
    expect(body).toMatchObject({ platform: null, used: ['date'], missing: ['greeting', 'account_name'], length: null });
  });

  test('with an account: its name, its platform and the length as the platform counts it', async () => {
    const { body } = await render({ account_id: twitter, date: '2026-02-28', variables: { greeting: 'Hi' } });
    expect(body).toEqual({ content: 'Hi from Acme Inc. on 2026-02-28', platform: 'twitter', used: ['greeting', 'account_name', 'date'], missing: [], length: { value: 31, limit: 280, unit: 'weighted' } });
    expect((await render({ account_id: telegram, date: '2026-02-28' })).body).toMatchObject({ content: '{{greeting}} from telegram on 2026-02-28', platform: 'telegram', length: null });
  });

  test('with a platform: its own text where there is one', async () => {
    expect((await render({ platform: 'mastodon', variables: { greeting: '👩‍👩‍👧' } })).body).toMatchObject({ content: 'Toot 👩‍👩‍👧', platform: 'mastodon', missing: [], length: { value: 6, limit: 500 } });
    expect((await render({ platform: 'sms', variables: { greeting: 'a', date: 'b' } })).body).toMatchObject({ content: 'a from {{account_name}} on b', length: null });
    expect((await render({ platform: 'twitter', account_id: twitter })).status).toBe(200);
  });

  test('what the caller gives wins over what is built in, and is not expanded again', async () => {
    const { body } = await render({ account_id: twitter, date: '2026-02-28', variables: { greeting: '{{date}}', account_name: 'We', date: 'some day', unused: 'x' } });
    expect(body).toMatchObject({ content: '{{date}} from We on some day', used: ['greeting', 'account_name', 'date'], missing: [] });
  });

  test('today is the day in the time zone', async () => {
    const day = (timeZone: string) => new Intl.DateTimeFormat('en-CA', { timeZone }).format(new Date());
    for (const timezone of ['Pacific/Kiritimati', 'pacific/pago_pago']) {
      const before = day(timezone);
      const { content } = (await render({ timezone })).body;
      expect([before, day(timezone)].map((one) => content.endsWith(one))).toContain(true);
    }
  });

  test('skip_signature: false puts in the default of the account\'s workspace, else of the template\'s', async () => {
    const signature = (body: Record<string, unknown>) => library.made('/v1/signatures', { name: 's', is_default: true, ...body });
    await signature({ content: '-- all' });
    await signature({ content: 'Mine:', position: 'prepend', workspace_id: library.mine });
    const shown = async (body: Record<string, unknown>, id?: string) => (await render({ date: '2026-02-28', variables: { greeting: 'Hi' }, ...body }, 'whole', id)).body;
    expect((await shown({ account_id: twitter })).content).toBe('Hi from Acme Inc. on 2026-02-28');
    expect(await shown({ account_id: twitter, skip_signature: false })).toMatchObject({ content: 'Mine:\n\nHi from Acme Inc. on 2026-02-28', length: { value: 38 } });
    expect((await shown({ skip_signature: false })).content).toBe('Hi from {{account_name}} on 2026-02-28\n\n-- all');
    expect((await render({ skip_signature: false }, 'scoped')).body.content).toMatch(/^Mine:\n\n/);
    const own = await library.made('/v1/content-templates', { name: 't', content: 'x', workspace_id: library.mine });
    expect((await shown({ skip_signature: false }, own.id)).content).toBe('Mine:\n\nx');
  });

  test('a key that may only read may render, a scope renders the organization\'s templates for its own accounts', async () => {
    const reader = (await apiKey(library.api.infra, { organizationId: library.org.id, permissions: ['read'], workspaceScope: [library.mine] })).secret;
    const path = `/v1/content-templates/${template}/render`;
    const keyed = () => library.api.send('POST', path, { key: reader, body: { account_id: twitter }, headers: { 'Idempotency-Key': 'render-once' } });
    const answers = [await keyed(), await keyed()];
    expect(answers.map((one) => [one.status, one.headers.get('idempotency-replayed')])).toEqual([[200, 'false'], [200, 'true']]);
    expect(codeOf(await library.api.send('POST', path, { key: reader, body: { account_id: elsewhere } }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await library.api.send('POST', path, { key: reader, body: { account_id: telegram } }))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    const other = await library.made('/v1/content-templates', { name: 't', content: 'x', workspace_id: library.other });
    expect(codeOf(await render({}, 'scoped', other.id))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await render({ account_id: twitter }, 'whole', other.id))).toEqual([400, 'WORKSPACE_SCOPE_CONFLICT']);
  });

  test('404 for what is not there, 400 for an account of another platform', async () => {
    expect(codeOf(await render({ account_id: `acc_${'0'.repeat(32)}` }))).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    expect(codeOf(await render({ account_id: 'nonsense' }))).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    expect(codeOf(await render({}, 'foreign'))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    expect(codeOf(await render({ account_id: twitter, platform: 'mastodon' }))).toEqual([400, 'BAD_REQUEST']);
  });

  test('422 names every field that is not valid', async () => {
    const wrong = await render({ variables: { '9a': 'x', ok: 'y'.repeat(5_001), number: 1 }, platform: 'myspace', date: '2026-02-29', timezone: 'Mars/Base', skip_signature: 'no', workspace_id: library.mine });
    expect(issuesOf(wrong)).toEqual([
      'invalid_string date', 'invalid_type skip_signature', 'invalid_type variables.number', 'invalid_value platform', 'invalid_value timezone', 'too_big variables.ok',
      'unrecognized_keys variables.9a', 'unrecognized_keys workspace_id',
    ]);
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`v${at}`, '']));
    expect(issuesOf(await render({ variables: many, date: '28.02.2026' }))).toEqual(['invalid_string date', 'too_big variables']);
  });

  test('422 for values that make more of it than a post may have', async () => {
    const { id } = await library.made('/v1/content-templates', { name: 't', content: '{{a}}'.repeat(2_000) });
    expect((await render({ variables: { a: '😀'.repeat(50) }, platform: 'twitter' }, 'whole', id)).body.length.value).toBe(200_000);
    for (const a of ['😀'.repeat(51), '😀'.repeat(5_000), 'a'.repeat(5_000)]) expect(issuesOf(await render({ variables: { a } }, 'whole', id))).toEqual(['too_big variables']);
  });
});
