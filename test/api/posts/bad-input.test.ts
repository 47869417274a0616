import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { codeOf, inSeconds, openWorld, type World } from './world.ts';

let world: World;
let draft: string;
beforeAll(async () => {
  world = await openWorld();
  draft = (await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft' })).id;
});
afterAll(() => world.close());

type Case = [what: string, fields: Record<string, unknown>, code: string, path: (string | number)[]];
const image = (more: Record<string, unknown>) => ({ media: [{ url: 'https://a.example/a.png', ...more }] });
const options = (key: string, value: unknown) => ({ target_options: { [key]: value } });
const long = 'x'.repeat(70_000);

/** Fields that create and PATCH share. */
const SHARED: Case[] = [
  ['targets: text', { targets: 'mastodon' }, 'invalid_type', ['targets']],
  ['targets: null', { targets: null }, 'invalid_type', ['targets']],
  ['targets: empty', { targets: [] }, 'too_small', ['targets']],
  ['targets: 101', { targets: Array.from({ length: 101 }, (_, at) => `t${at}`) }, 'too_big', ['targets']],
  ['targets: item of another type', { targets: ['mastodon', 5] }, 'invalid_type', ['targets', 1]],
  ['targets: null item', { targets: [null] }, 'invalid_type', ['targets', 0]],
  ['targets: empty item', { targets: [''] }, 'too_small', ['targets', 0]],
  ['targets: item of 65', { targets: ['x'.repeat(65)] }, 'too_big', ['targets', 0]],
  ['scheduled_at: number', { scheduled_at: 1_800_000_000 }, 'invalid_type', ['scheduled_at']],
  ['scheduled_at: null', { scheduled_at: null }, 'invalid_type', ['scheduled_at']],
  ['scheduled_at: empty', { scheduled_at: '' }, 'too_small', ['scheduled_at']],
  ['scheduled_at: Auto', { scheduled_at: 'Auto' }, 'invalid_string', ['scheduled_at']],
  ['scheduled_at: a date alone', { scheduled_at: '2026-11-20' }, 'invalid_string', ['scheduled_at']],
  ['scheduled_at: too far', { scheduled_at: inSeconds(30 * 86_400 + 60) }, 'too_big', ['scheduled_at']],
  ['scheduled_at: past', { scheduled_at: inSeconds(-330) }, 'too_small', ['scheduled_at']],
  ['content: number', { content: 5 }, 'invalid_type', ['content']],
  ['content: array', { content: ['x'] }, 'invalid_type', ['content']],
  ['content: 100,001 characters', { content: '𝒳'.repeat(100_001) }, 'too_big', ['content']],
  ['content: U+0000', { content: 'a\0b' }, 'invalid_string', ['content']],
  ['media: object', { media: {} }, 'invalid_type', ['media']],
  ['media: 51 items', { media: Array.from({ length: 51 }, () => ({ url: 'https://a.example/a.png' })) }, 'too_big', ['media']],
  ['media: text item', { media: ['https://a.example/a.png'] }, 'invalid_type', ['media', 0]],
  ['media: url missing', { media: [{}] }, 'required', ['media', 0, 'url']],
  ['media: url null', { media: [{ url: null }] }, 'invalid_type', ['media', 0, 'url']],
  ['media: url ftp', { media: [{ url: 'ftp://a.example/a.png' }] }, 'invalid_string', ['media', 0, 'url']],
  ['media: url with user info', { media: [{ url: 'https://u:p@a.example/a.png' }] }, 'invalid_string', ['media', 0, 'url']],
  ['media: url relative', { media: [{ url: '/a.png' }] }, 'invalid_string', ['media', 0, 'url']],
  ['media: url of 2,049', { media: [{ url: `https://a.example/${'a'.repeat(2_031)}` }] }, 'too_big', ['media', 0, 'url']],
  ['media: media_id', { media: [{ media_id: `med_${'0'.repeat(32)}` }] }, 'unrecognized_keys', ['media', 0, 'media_id']],
  ['media: type unknown', image({ type: 'audio' }), 'invalid_value', ['media', 0, 'type']],
  ['media: alt_text of 2,001', image({ alt_text: 'x'.repeat(2_001) }), 'too_big', ['media', 0, 'alt_text']],
  ['media: mime_type without slash', image({ mime_type: 'png' }), 'invalid_string', ['media', 0, 'mime_type']],
  ['media: mime_type of 256', image({ mime_type: `image/${'x'.repeat(250)}` }), 'too_big', ['media', 0, 'mime_type']],
  ['media: width negative', image({ width: -1 }), 'too_small', ['media', 0, 'width']],
  ['media: height fraction', image({ height: 1.5 }), 'invalid_type', ['media', 0, 'height']],
  ['media: duration_ms text', image({ duration_ms: '5' }), 'invalid_type', ['media', 0, 'duration_ms']],
  ['media: unknown member', image({ thumbnail: 'x' }), 'unrecognized_keys', ['media', 0, 'thumbnail']],
  ['target_options: array', { target_options: [] }, 'invalid_type', ['target_options']],
  ['target_options: unknown key', options('myspace', {}), 'unrecognized_keys', ['target_options', 'myspace']],
  ['target_options: malformed account id', options('acc_1', {}), 'unrecognized_keys', ['target_options', 'acc_1']],
  ['target_options: null value', options('twitter', null), 'invalid_type', ['target_options', 'twitter']],
  ['target_options: unknown option', options('twitter', { first_comment: 'x' }), 'unrecognized_keys', ['target_options', 'twitter', 'first_comment']],
  ['target_options: threads', options('mastodon', { threads: [{ content: 'x' }] }), 'unrecognized_keys', ['target_options', 'mastodon', 'threads']],
  ['target_options: option of another platform', options('twitter', { visibility: 'public' }), 'unrecognized_keys', ['target_options', 'twitter', 'visibility']],
  ['target_options: not an enum value', options('mastodon', { visibility: 'secret' }), 'invalid_value', ['target_options', 'mastodon', 'visibility']],
  ['target_options: nested unknown', options('twitter', { poll: { options: ['a', 'b'], color: 'red' } }), 'unrecognized_keys', ['target_options', 'twitter', 'poll', 'color']],
  ['target_options: nested null', options('twitter', { poll: { options: null } }), 'invalid_type', ['target_options', 'twitter', 'poll', 'options']],
  ['target_options: media_id', options('twitter', { media: [{ media_id: `med_${'0'.repeat(32)}` }] }), 'unrecognized_keys', ['target_options', 'twitter', 'media', 0, 'media_id']],
  ['target_options: above 64 KiB', options('twitter', { content: long }), 'too_big', ['target_options', 'twitter']],
  ['target_options: workspace, name of no platform', options(`ws_${'0'.repeat(32)}`, { nothing: 1 }), 'unrecognized_keys', ['target_options', `ws_${'0'.repeat(32)}`, 'nothing']],
  ['target_options: workspace, value of no platform', options(`ws_${'0'.repeat(32)}`, { visibility: 5 }), 'invalid_value', ['target_options', `ws_${'0'.repeat(32)}`, 'visibility']],
  ['target_options: 201 keys', { target_options: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`acc_${String(at).padStart(32, '0')}`, {}])) }, 'too_big', ['target_options']],
  ['timezone: number', { timezone: 1 }, 'invalid_type', ['timezone']],
  ['timezone: unknown', { timezone: 'Mars/Base' }, 'invalid_value', ['timezone']],
  ['timezone: offset', { timezone: '+01:00' }, 'invalid_value', ['timezone']],
  ['notes: object', { notes: {} }, 'invalid_type', ['notes']],
  ['notes: 10,001', { notes: 'x'.repeat(10_001) }, 'too_big', ['notes']],
  ['catch_up: text', { catch_up: 'hold' }, 'invalid_type', ['catch_up']],
  ['catch_up: lateness above', { catch_up: { max_lateness_seconds: 2_592_001 } }, 'too_big', ['catch_up', 'max_lateness_seconds']],
  ['catch_up: lateness negative', { catch_up: { max_lateness_seconds: -1 } }, 'too_small', ['catch_up', 'max_lateness_seconds']],
  ['catch_up: lateness fraction', { catch_up: { max_lateness_seconds: 0.5 } }, 'invalid_type', ['catch_up', 'max_lateness_seconds']],
  ['catch_up: on_late unknown', { catch_up: { on_late: 'wait' } }, 'invalid_value', ['catch_up', 'on_late']],
  ['catch_up: unknown member', { catch_up: { late: 1 } }, 'unrecognized_keys', ['catch_up', 'late']],
  ['template_id: number', { template_id: 1 }, 'invalid_type', ['template_id']],
  ['template_variables: array', { template_variables: [] }, 'invalid_type', ['template_variables']],
  ['template_variables: 51', { template_variables: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`v${at}`, 'x'])) }, 'too_big', ['template_variables']],
  ['template_variables: a name with a blank', { template_variables: { 'a b': 'x' } }, 'unrecognized_keys', ['template_variables', 'a b']],
  ['template_variables: number', { template_variables: { n: 5 } }, 'invalid_type', ['template_variables', 'n']],
  ['template_variables: 5,001 characters', { template_variables: { n: 'x'.repeat(5_001) } }, 'too_big', ['template_variables', 'n']],
  ['skip_signature: text', { skip_signature: 'true' }, 'invalid_type', ['skip_signature']],
  ['shorten_urls: number', { shorten_urls: 1 }, 'invalid_type', ['shorten_urls']],
  ['allow_duplicate: text', { allow_duplicate: 'yes' }, 'invalid_type', ['allow_duplicate']],
  ['tag_ids: text', { tag_ids: 'tag_1' }, 'invalid_type', ['tag_ids']],
  ['tag_ids: 21', { tag_ids: Array.from({ length: 21 }, () => `tag_${'0'.repeat(32)}`) }, 'too_big', ['tag_ids']],
  ...['recycling', 'cross_post_actions', 'idea_id', 'schedule_at', 'id', 'status']
    .map((name): Case => [`${name}: unknown`, { [name]: null }, 'unrecognized_keys', [name]]),
];

describe.each(['POST', 'PATCH'] as const)('%s › a bad field is 422 and says where', (method) => {
  test.each(SHARED)('%s', async (_what, fields, code, path) => {
    const base = method === 'POST' ? { targets: ['mastodon'], scheduled_at: 'draft' } : {};
    const answer = await world.send(method, method === 'POST' ? '/v1/posts' : `/v1/posts/${draft}`, { ...base, ...fields });
    expect(codeOf(answer)).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.body.error.details.issues[0]).toMatchObject({ code, path, in: 'body' });
    expect(answer.body.error.details.issues[0].message.length).toBeLessThanOrEqual(300);
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });
});

describe('POST › only there', () => {
  test.each<Case>([
    ['workspace_id: number', { workspace_id: 5 }, 'invalid_type', ['workspace_id']],
    ['expected_revision', { expected_revision: 1 }, 'unrecognized_keys', ['expected_revision']],
  ])('%s', async (_what, fields, code, path) => {
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: 'draft', ...fields });
    expect(answer.body.error.details.issues).toEqual([expect.objectContaining({ code, path })]);
  });

  test('what is missing is named, field by field', async () => {
    const answer = await world.send('POST', '/v1/posts');
    expect(answer.body.error.details.issues.map((one: any) => [one.code, one.path])).toEqual([['required', ['targets']], ['required', ['scheduled_at']]]);
  });

  test.each([
    ['both names of an option', options('twitter', { reply_to: '1', reply_to_tweet_id: '1' }), 'custom', 'target_options.twitter.reply_to_tweet_id is another name of reply_to; give one of them'],
    ['an enum that may be null', options('mastodon', { visibility: 'x' }), 'invalid_value', 'target_options.mastodon.visibility must be one of public, unlisted, private, direct'],
    ['an unknown option', options('mastodon', { foo: 1 }), 'unrecognized_keys', 'foo is not a field of target_options.mastodon'],
    ['neither an id nor an address', options('twitter', { reply_to: 'x' }), 'invalid_string', 'target_options.twitter.reply_to must be of one of the documented forms'],
  ])('the message tells what to do: %s', async (_what, fields, code, message) => {
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: 'draft', ...fields });
    expect(answer.body.error.details.issues).toEqual([expect.objectContaining({ code, message })]);
  });

  test('a misspelt field is guessed', async () => {
    const answer = await world.post({ targets: ['mastodon'], scheduledAt: 'now' });
    expect(answer.body.error.message + JSON.stringify(answer.body.error.details)).toContain('did you mean scheduled_at?');
  });

  test('all issues come together', async () => {
    const answer = await world.post({ targets: [], scheduled_at: 'soon', content: 5, timezone: 'x', foo: 1 });
    expect(answer.body.error.details.issue_count).toBe(5);
  });

  test('null of every optional field is absent', async () => {
    const nulls = { content: null, media: null, target_options: null, timezone: null, notes: null, catch_up: null, workspace_id: null };
    expect(await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft', ...nulls })).toMatchObject({ timezone: 'UTC', content: null, media: null, target_options: null });
  });

  test('the largest values pass', async () => {
    const body = {
      targets: ['mastodon'], scheduled_at: 'draft', content: '𝒳'.repeat(100_000), notes: '𝒳'.repeat(10_000), media: Array.from({ length: 50 }, () => ({ url: 'https://a.example/a.png', alt_text: 'x'.repeat(2_000) })),
      catch_up: { max_lateness_seconds: 2_592_000, on_late: 'skip' },
    };
    expect((await world.post(body)).status).toBe(201);
  });
});

describe('PATCH › only there', () => {
  test.each<Case>([
    ['workspace_id', { workspace_id: null }, 'unrecognized_keys', ['workspace_id']],
    ['expected_revision: text', { expected_revision: '1' }, 'invalid_type', ['expected_revision']],
    ['expected_revision: 0', { expected_revision: 0 }, 'too_small', ['expected_revision']],
    ['expected_revision: null', { expected_revision: null }, 'invalid_type', ['expected_revision']],
    ['metrics', { metrics: {} }, 'unrecognized_keys', ['metrics']],
  ])('%s', async (_what, fields, code, path) => {
    const answer = await world.send('PATCH', `/v1/posts/${draft}`, fields);
    expect(answer.body.error.details.issues).toEqual([expect.objectContaining({ code, path })]);
  });
});

describe('POST /retry', () => {
  test.each<Case>([
    ['targets: text', { targets: 'all' }, 'invalid_type', ['targets']],
    ['targets: empty', { targets: [] }, 'too_small', ['targets']],
    ['unknown member', { target: 'x' }, 'unrecognized_keys', ['target']],
  ])('%s', async (_what, fields, code, path) => {
    const answer = await world.send('POST', `/v1/posts/${draft}/retry`, fields);
    expect(answer.body.error.details.issues).toEqual([expect.objectContaining({ code, path })]);
  });
});

describe('what only the targets tell', () => {
  test('options under an account id are judged by its platform', async () => {
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: 'draft', target_options: { [world.mastodon.id]: { reply_settings: 'everyone', visibility: 'secret' } } });
    expect(codeOf(answer)).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.body.error.details.issues.map((one: any) => [one.code, one.path.slice(1)])).toEqual([['invalid_value', [world.mastodon.id, 'visibility']], ['unrecognized_keys', [world.mastodon.id, 'reply_settings']]]);
  });

  test.each([
    ['null among media', { media: [null] }], ['media without an address', { media: [{}] }], ['a number as media', { media: [5] }], ['an unknown option that sounds like media', { foo_media_id: 1 }],
  ])('what is put under an account is judged by its platform before anything looks into it: %s', async (_what, values) => {
    for (const path of ['/v1/posts', '/v1/posts/preflight']) {
      const mine = await world.send('POST', path, { targets: [world.mastodon.id], scheduled_at: 'draft', content: 'x', target_options: { [world.mastodon.id]: values } });
      expect(codeOf(mine)).toEqual([422, 'VALIDATION_ERROR']);
      const nobodys = await world.send('POST', path, { targets: [world.mastodon.id], scheduled_at: 'draft', content: 'x', target_options: { [`acc_${'0'.repeat(32)}`]: values } });
      expect([200, 201]).toContain(nobodys.status);
    }
  });

  test('options of no target are kept, unread, with a warning', async () => {
    const stranger = `acc_${'0'.repeat(32)}`;
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: 'draft', target_options: { [stranger]: { anything: 1 }, twitter: { content: 'x' } } });
    expect([answer.status, answer.headers.get('oncepost-warnings')]).toEqual([201, '3']);
    expect(answer.body.target_options).toEqual({ [stranger]: { anything: 1 }, twitter: { content: 'x' } });
  });

  test.each(['http://127.0.0.1/a.png', 'https://10.0.0.1/a.png', 'https://[::1]/a.png', 'https://localhost/a.png', 'https://intranet/a.png', 'http://169.254.169.254/latest', 'https://2130706433/a.png', 'https://a.example:8080/a.png'])('%s is INVALID_MEDIA_URL', async (url) => {
    const shared = await world.post({ targets: ['mastodon'], scheduled_at: 'draft', media: [{ url: 'https://a.example/a.png' }, { url }] });
    expect(codeOf(shared)).toEqual([400, 'INVALID_MEDIA_URL']);
    expect(shared.body.error.details.path).toEqual(['media', 1, 'url']);
    const own = await world.post({ targets: ['twitter'], scheduled_at: 'draft', target_options: { twitter: { media: [{ url }] } } });
    expect(own.body.error.details.path).toEqual(['target_options', 'twitter', 'media', 0, 'url']);
  });

  test("the sandbox's samples may be used by test keys", async () => {
    expect((await world.post({ targets: ['mastodon'], scheduled_at: 'draft', media: [{ url: `${world.api.infra.config.baseUrl}/sandbox/samples/image.jpg` }] })).status).toBe(201);
  });

  test('stored media do not exist yet', async () => {
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: 'draft', target_options: { mastodon: { thumbnail_media_id: `med_${'0'.repeat(32)}` } } });
    expect(codeOf(answer)).toEqual([404, 'MEDIA_NOT_FOUND']);
  });

  test.each([[{}], [{ content: '' }], [{ content: ' \n' }], [{ content: 'x', target_options: { mastodon: { content: ' ' } }, empty: false }], [{ content: null, target_options: { mastodon: { content: null, visibility: 'public' } } }]])('nothing to publish: %p', async ({ empty = true, ...fields }: Record<string, unknown>) => {
    const answer = await world.post({ targets: ['mastodon'], scheduled_at: inSeconds(60), ...fields });
    expect(codeOf(answer)).toEqual(empty ? [400, 'CONTENT_REQUIRED'] : [201, undefined]);
    if (empty) expect(answer.body.error.details.account_ids).toEqual([world.mastodon.id]);
  });

  test('every target is checked by its platform; all issues come in one answer, with the path of the layer', async () => {
    const answer = await world.post({
      targets: ['twitter', 'mastodon'], scheduled_at: 'now', content: 'x'.repeat(600), media: [{ url: 'https://a.example/a.png' }],
      target_options: { twitter: { quote_to: '5' }, [world.twitter.id]: { poll: { options: ['a', 'b'] } }, mastodon: { content: 'y'.repeat(501) } },
    });
    expect(codeOf(answer)).toEqual([422, 'PREFLIGHT_FAILED']);
    const { issues, issue_count } = answer.body.error.details;
    expect(issue_count).toBe(issues.length);
    expect(issues.slice(0, 2).map((one: any) => one.platform)).toEqual(['twitter', 'mastodon']);
    expect(issues).toEqual(expect.arrayContaining([
      expect.objectContaining({ code: 'CONTENT_TOO_LONG', severity: 'error', message: 'The text has 600 weighted characters, 320 more than the 280 allowed.', platform: 'twitter', account_id: world.twitter.id, path: ['content'] }),
      expect.objectContaining({ code: 'CONTENT_TOO_LONG', platform: 'mastodon', path: ['target_options', 'mastodon', 'content'] }),
      expect.objectContaining({ code: 'OPTION_CONFLICT', path: ['target_options', world.twitter.id, 'poll'], details: expect.objectContaining({ rule: 'POLL_WITH_MEDIA' }) }),
    ]));
    expect((await world.send('GET', '/v1/posts?status=publishing')).body.data).toEqual([]);
  });
});
