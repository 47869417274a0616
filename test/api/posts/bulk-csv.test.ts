import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TagEntity } from '../../../infra/db/entities/tag.entity.ts';
import { newId } from '../../../infra/contract/ids.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization, workspace } from '../../support/factories.ts';
import { formBytes, formType, type SentPart } from '../../support/form.ts';
import { codeOf, inSeconds, openWorld, type World } from './world.ts';
import { rowCounts, startsOf } from './bulk-world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

interface Sending {
  query?: string;
  key?: string;
  headers?: Record<string, string>;
  parts?: SentPart[];
  boundary?: string;
}

const sendFile = (content: string | Buffer, { query = '', key = world.key, headers = {}, parts = [], boundary }: Sending = {}) =>
  world.api.send('POST', `/v1/posts/bulk-csv${query}`, { key, body: formBytes([{ name: 'file', fileName: 'posts.csv', type: 'text/csv', content }, ...parts], boundary), headers: { 'content-type': formType(boundary), ...headers } });

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
/** Rows as objects by column; every cell in quotes. */
function csv(rows: Record<string, string>[]): string {
  const columns = [...new Set(['targets', 'scheduled_at', ...rows.flatMap((row) => Object.keys(row))])];
  return [columns.join(','), ...rows.map((row) => columns.map((column) => quoted(row[column] ?? '')).join(','))].join('\r\n');
}

const draft = (more: Record<string, string> = {}) => ({ targets: world.mastodon.id, scheduled_at: 'draft', content: 'x', ...more });
const send = (rows: Record<string, string>[], sending?: Sending) => sendFile(csv(rows), sending);
const codes = (body: any) => body.data.map((row: any) => row.error?.code ?? null);
const readPost = async (id: string) => (await world.send('GET', `/v1/posts/${id}`)).body;

async function tag(name: string, workspaceId: string | null = null, organizationId = world.org.id): Promise<string> {
  const id = newId('tag');
  const now = new Date();
  await inScope(world.api.infra.db, SYSTEM, (tx) => tx.insert(TagEntity, { id, organizationId, mode: 'test', workspaceId, name, color: '#123ABC', createdAt: now, updatedAt: now }));
  return id;
}

describe('POST /v1/posts/bulk-csv', () => {
  test('the example of the contract: one post with everything its row says', async () => {
    const at = inSeconds(86_400).slice(0, 16);
    const file = `targets,scheduled_at,timezone,content,media_urls,target_options\n"twitter;${world.mastodon.id}",${at},Europe/Berlin,"Two\nlines",https://ex.ample/a.jpg,"{""twitter"":{""reply_settings"":""following""}}"\n`;
    const answer = await sendFile(file);
    expect([answer.status, answer.body]).toEqual([201, {
      data: [expect.objectContaining({ row: 1, line: 2, status: 'success', post_id: expect.stringMatching(/^post_/), scheduled_at: expect.any(String) })],
      summary: { total_rows: 1, succeeded: 1, failed: 0, skipped: 0, posts_created: 1 }, dry_run: false,
    }]);
    const post = await readPost(answer.body.data[0].post_id);
    expect(post).toMatchObject({ status: 'scheduled', content: 'Two\nlines', timezone: 'Europe/Berlin', target_options: { twitter: { reply_settings: 'following' } }, media: [{ url: 'https://ex.ample/a.jpg', type: 'image' }], scheduled_at: answer.body.data[0].scheduled_at });
    expect(Object.keys(post.targets)).toEqual([world.twitter.id, world.mastodon.id]);
    expect([answer.headers.get('x-usage-limit'), answer.headers.get('location')]).toEqual(['unlimited', null]);
  });

  test('every column of a draft', async () => {
    await tag('News');
    const answer = await send([{
      targets: ` ${world.mastodon.id} | twitter ;; `, scheduled_at: ' draft ', content: '  =cmd|\' /C calc\'!A0  ', media_urls: 'https://ex.ample/a%3Bb.jpg;https://ex.ample/b.jpg\nhttps://ex.ample/c.jpg', media_alt: 'first;;third', timezone: 'asia/TOKYO',
      target_options: '{"mastodon": {"visibility": "unlisted"}}', notes: '+1 of mine', external_id: '-row 7', template_variables: '{"name": "@x"}', catch_up: '{"max_lateness_seconds": 60, "on_late": "skip"}', shorten_urls: 'No', skip_signature: 'YES', allow_duplicate: '1', tags: 'news; ',
    }]);
    expect(answer.body.data).toEqual([{ row: 1, line: 2, status: 'success', post_id: expect.any(String), scheduled_at: null, external_id: '-row 7', warnings: expect.arrayContaining([{ code: 'TEMPLATE_VARIABLES_UNUSED', message: expect.any(String) }]) }]);
    expect(await readPost(answer.body.data[0].post_id)).toMatchObject({
      status: 'draft', content: "  =cmd|' /C calc'!A0  ", timezone: 'Asia/Tokyo', notes: '+1 of mine', skip_signature: true, catch_up: { max_lateness_seconds: 60, on_late: 'skip' }, tags: [{ name: 'News' }], target_options: { mastodon: { visibility: 'unlisted' } },
      media: [{ url: 'https://ex.ample/a%3Bb.jpg', alt_text: 'first' }, { url: 'https://ex.ample/b.jpg', alt_text: null }, { url: 'https://ex.ample/c.jpg', alt_text: 'third' }],
    });
  });

  test('rows with an error carry it with their number and line, and leave nothing behind', async () => {
    const before = await rowCounts(world);
    await send([draft()]);
    const oneMore = await rowCounts(world);
    const long = 'x'.repeat(10_001);
    const rows: [Record<string, string>, string, unknown][] = [
      [draft({ targets: '' }), 'VALIDATION_ERROR', [['targets']]], [draft({ scheduled_at: '' }), 'VALIDATION_ERROR', [['scheduled_at']]], [draft({ scheduled_at: 'tomorrow' }), 'VALIDATION_ERROR', [['scheduled_at']]], [draft({ scheduled_at: inSeconds(31 * 86_400) }), 'VALIDATION_ERROR', [['scheduled_at']]],
      [draft({ targets: 'nobody' }), 'INVALID_TARGETS', undefined], [draft({ target_options: '{"twitter":' }), 'CSV_CELL_INVALID', undefined], [draft({ target_options: '[]' }), 'VALIDATION_ERROR', [['target_options']]], [draft({ target_options: '{"twitter":{"reply_setting":"x"}}' }), 'VALIDATION_ERROR', [['target_options']]],
      [draft({ skip_signature: 'maybe' }), 'CSV_CELL_INVALID', undefined], [draft({ catch_up: '{"a":1,"a":2}' }), 'CSV_CELL_INVALID', undefined], [draft({ notes: long }), 'CSV_CELL_TOO_LONG', undefined], [draft({ content: 'x'.repeat(100_001) }), 'CSV_CELL_TOO_LONG', undefined],
      [draft({ timezone: 'Mars/Olympus' }), 'VALIDATION_ERROR', [['timezone']]], [draft({ media_urls: 'ftp://ex.ample/a' }), 'VALIDATION_ERROR', [['media_urls']]], [draft({ media_urls: 'https://ex.ample/a.png', media_alt: `${'y'.repeat(2_001)}` }), 'VALIDATION_ERROR', [['media_alt']]],
      [draft({ media_alt: 'without a file' }), 'VALIDATION_ERROR', [['media_alt']]], [draft({ tags: 'nothing of the kind' }), 'TAG_NOT_FOUND', undefined], [draft({ workspace_id: `ws_${'0'.repeat(32)}` }), 'NOT_FOUND', undefined], [draft({ template_id: `tmpl_${'0'.repeat(32)}` }), 'TEMPLATE_NOT_FOUND', undefined],
      [draft({ external_id: 'y'.repeat(201) }), 'VALIDATION_ERROR', [['external_id']]], [draft({ media_urls: 'http://127.0.0.1/a.png' }), 'INVALID_MEDIA_URL', undefined], [draft({ scheduled_at: 'now', content: '' }), 'CONTENT_REQUIRED', undefined], [draft({ targets: world.twitter.id, scheduled_at: 'now', content: 'z'.repeat(300) }), 'PREFLIGHT_FAILED', undefined],
      [draft({ template_variables: '{"__proto__":"x"}' }), 'VALIDATION_ERROR', [['template_variables']]], [draft({ target_options: `{"twitter":${'['.repeat(40)}${']'.repeat(40)}}` }), 'CSV_CELL_INVALID', undefined],
    ];
    const answer = await send([...rows.map(([row]) => row), draft({ external_id: 'good' })]);
    const after = await rowCounts(world);
    expect([answer.status, answer.body.summary]).toEqual([201, { total_rows: rows.length + 1, succeeded: 1, failed: rows.length, skipped: 0, posts_created: 1 }]);
    expect(answer.body.data.map((row: any) => [row.row, row.line, row.status])).toEqual([...rows.map((_, at) => [at + 1, at + 2, 'error']), [rows.length + 1, rows.length + 2, 'success']]);
    expect(codes(answer.body)).toEqual([...rows.map(([, code]) => code), null]);
    expect(answer.body.data.map((row: any) => (row.error?.code === 'VALIDATION_ERROR' ? row.error.details.issues.map((issue: any) => issue.path) : undefined))).toEqual([...rows.map(([, , paths]) => paths), undefined]);
    expect(answer.body.data[5].error.details).toEqual({ column: 'target_options' });
    expect(answer.body.data[10].error.details).toEqual({ column: 'notes', limit: 10_000 });
    const growth = (from: Record<string, number>, to: Record<string, number>) => Object.fromEntries(Object.keys(to).map((table) => [table, to[table]! - from[table]!]));
    expect(growth(oneMore, after)).toEqual(growth(before, oneMore));
  });

  test('what refuses nothing is told once beside its row', async () => {
    const answer = await send([draft({ targets: 'twitter;mastodon', content: '' }), draft()]);
    expect(answer.body.data.map((row: any) => row.warnings)).toEqual([[{ code: 'CONTENT_REQUIRED', message: expect.any(String) }], undefined]);
  });

  test('cells of the longest kind are taken', async () => {
    const answer = await send([draft({ notes: '😀'.repeat(10_000) }), draft({ content: '😀'.repeat(100_000) }), draft({ external_id: '😀'.repeat(200) })]);
    expect(codes(answer.body)).toEqual([null, null, null]);
  });

  test('a list that is longer than a post may have is refused as that, however many of its items are bad', async () => {
    const answer = await send([draft({ media_urls: 'a;'.repeat(4_990) }), draft({ targets: 'a|'.repeat(101) }), draft({ tags: 'a;'.repeat(21) }), draft({ media_urls: 'a;a' })]);
    expect(answer.body.data.map((row: any) => row.error.details.issues.map((issue: any) => [issue.code, issue.path]))).toEqual([
      [['too_big', ['media_urls']]], [['too_big', ['targets']]], [['too_big', ['tags']]], [['invalid_string', ['media_urls']], ['invalid_string', ['media_urls']]],
    ]);
  });

  test('fields that creation does not know yet are refused as it refuses them, by their column', async () => {
    for (const column of ['idea_id', 'recycling', 'cross_post_actions']) {
      const cell = column === 'idea_id' ? 'idea_1' : '{"gap": 1}';
      const alone = await world.post({ ...draft(), targets: [world.mastodon.id], [column]: column === 'idea_id' ? cell : JSON.parse(cell) });
      const answer = await send([draft({ [column]: cell })]);
      expect(codes(answer.body)).toEqual([alone.body.error.code]);
    }
  });

  test('wide rows are refused, short ones are filled up, empty ones are skipped; lines count through all of them', async () => {
    const id = world.mastodon.id;
    const answer = await sendFile(`targets;scheduled_at;content;external_id\r\n${id};draft;a;1;2\r\n\r\n ; ;\t; \r\n${id};draft\r\n"${id}";draft;"line\r\nbreaks\n";5\r\n;;;6\r\n;;;;;;\r\n${id};draft;c;7`);
    expect(answer.body.data.map((row: any) => [row.row, row.line, row.status, row.error?.code ?? null, row.external_id ?? null])).toEqual([
      [1, 2, 'error', 'CSV_ROW_WIDTH', '1'], [2, 3, 'skipped', null, null], [3, 4, 'skipped', null, null], [4, 5, 'success', null, null], [5, 6, 'success', null, '5'], [6, 9, 'error', 'VALIDATION_ERROR', '6'], [7, 10, 'skipped', null, null], [8, 11, 'success', null, '7'],
    ]);
    expect(answer.body.summary).toEqual({ total_rows: 8, succeeded: 3, failed: 2, skipped: 3, posts_created: 3 });
    expect((await readPost(answer.body.data[4].post_id)).content).toBe('line\nbreaks\n');
    const nothing = await sendFile('targets,scheduled_at\n\n,\n');
    expect([nothing.status, nothing.body.summary]).toEqual([201, { total_rows: 2, succeeded: 0, failed: 0, skipped: 2, posts_created: 0 }]);
  });

  test('parameters, or parts of the same name: the query wins', async () => {
    const at = inSeconds(86_400).slice(0, 16);
    const rows = [draft({ scheduled_at: at }), draft({ scheduled_at: at, timezone: 'America/New_York' })];
    const parts = [{ name: 'timezone', content: 'asia/tokyo' }, { name: 'delimiter', content: 'comma' }, { name: 'anything', content: 'x' }];
    const zones = async (sending: Sending) => Promise.all((await send(rows, sending)).body.data.map(async (row: any) => (await readPost(row.post_id)).timezone));
    expect(await zones({ parts })).toEqual(['Asia/Tokyo', 'America/New_York']);
    expect(await zones({ parts, query: '?timezone=Europe/Paris' })).toEqual(['Europe/Paris', 'America/New_York']);
    for (const query of ['?timezone=Nowhere', '?delimiter=pipe', '?dry_run=1', '?dry_run=true&dry_run=true']) expect(codeOf(await send(rows, { query }))).toEqual([422, 'VALIDATION_ERROR']);
  });

  test('a workspace for all rows, and of their own', async () => {
    const [granted, other, archived] = await Promise.all(['active', 'active', 'archived'].map((status) => workspace(world.api.infra, { organizationId: world.org.id, status: status as 'active' })));
    const key = (await apiKey(world.api.infra, { organizationId: world.org.id, workspaceScope: [granted!.id, archived!.id] })).secret;
    const own = await account(world.api.infra, { organizationId: world.org.id, platform: 'mastodon', workspaceId: granted!.id });
    const before = await rowCounts(world);
    for (const [id, expected] of [[`ws_${'0'.repeat(32)}`, [404, 'NOT_FOUND']], [other!.id, [403, 'WORKSPACE_ACCESS_DENIED']], [archived!.id, [409, 'WORKSPACE_NOT_ACTIVE']]] as const) {
      expect(codeOf(await send([draft()], { key, query: `?workspace_id=${id}` }))).toEqual(expected);
    }
    expect(await rowCounts(world)).toEqual(before);
    const rows: Record<string, string>[] = [{ targets: own.id, scheduled_at: 'draft' }, { targets: own.id, scheduled_at: 'draft', workspace_id: other!.id }, { targets: own.id, scheduled_at: 'draft', workspace_id: archived!.id }];
    const answer = await send(rows, { key, query: `?workspace_id=${granted!.id}` });
    expect(codes(answer.body)).toEqual([null, 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE']);
  });

  test('tags by name: of the own workspace first, then of the organization; never of another', async () => {
    const org = await organization(world.api.infra);
    const stranger = await tag('Secret', null, (await organization(world.api.infra)).id);
    const ws = await workspace(world.api.infra, { organizationId: org.id });
    const [shared, own] = [await tag('Sale', null, org.id), await tag('SALE', ws.id, org.id)];
    const key = (await apiKey(world.api.infra, { organizationId: org.id })).secret;
    const target = await account(world.api.infra, { organizationId: org.id, platform: 'mastodon', workspaceId: ws.id });
    const row = { targets: target.id, scheduled_at: 'draft', tags: 'sale;Sale' };
    const answer = await send([row, { ...row, workspace_id: ws.id }, { ...row, tags: 'secret' }], { key });
    expect(codes(answer.body)).toEqual([null, null, 'TAG_NOT_FOUND']);
    expect(answer.body.data[2].error.details).toEqual({ resource: 'tag', field: 'tags', names: ['secret'] });
    const tagsOf = async (at: number) => (await world.send('GET', `/v1/posts/${answer.body.data[at].post_id}`, undefined, { key })).body.tags.map((one: any) => one.id);
    expect([await tagsOf(0), await tagsOf(1)]).toEqual([[shared], [own]]);
    expect([shared, own]).not.toContain(stranger);
    const scoped = (await apiKey(world.api.infra, { organizationId: org.id, workspaceScope: [ws.id] })).secret;
    const { body } = await send([row], { key: scoped });
    expect((await world.send('GET', `/v1/posts/${body.data[0].post_id}`, undefined, { key })).body.tags.map((one: any) => one.id)).toEqual([own]);
  });

  test('500 rows, and not one more', async () => {
    const rows = (count: number) => Array.from({ length: count }, () => draft());
    const answer = await send(rows(500));
    expect([answer.status, answer.body.summary]).toEqual([201, { total_rows: 500, succeeded: 500, failed: 0, skipped: 0, posts_created: 500 }]);
    const before = await rowCounts(world);
    expect(codeOf(await send(rows(501)))).toEqual([400, 'CSV_TOO_MANY_ROWS']);
    expect(await rowCounts(world)).toEqual(before);
  }, 60_000);

  test('files that are no table store nothing and leave the key free', async () => {
    const before = await rowCounts(world);
    const headers = { 'idempotency-key': 'no-table-at-all' };
    const files: [string | Buffer, [number, string]][] = [
      ['targets,scheduled_at\n', [400, 'CSV_EMPTY']], [`targets,scheduled_at${',x'.repeat(63)}\n1`, [400, 'CSV_TOO_MANY_COLUMNS']], ['targets,content\na,b\n', [400, 'CSV_HEADER_INVALID']], [`targets,scheduled_at\n${world.mastodon.id},draft\n"a,b\n`, [400, 'CSV_MALFORMED']],
      [Buffer.from([0xff, 0x41]), [400, 'CSV_ENCODING_INVALID']], ['PK\u0003\u0004', [415, 'UNSUPPORTED_MEDIA_TYPE']], ['', [400, 'BAD_REQUEST']], [`targets,scheduled_at\n${'x'.repeat(1_048_576)}`, [413, 'PAYLOAD_TOO_LARGE']],
    ];
    for (const [file, expected] of files) expect(codeOf(await sendFile(file, { headers }))).toEqual(expected);
    expect(await rowCounts(world)).toEqual(before);
    expect((await send([draft()], { headers })).headers.get('idempotency-replayed')).toBe('false');
  });

  test('a file of 1 MiB is taken, in an envelope of 2 MiB; more is 413', async () => {
    const head = `targets,scheduled_at,content\n${world.mastodon.id},draft,`;
    const filler = (size: number) => `${head}${'\n'.padEnd(size - head.length, '\n').slice(0, 400)}`.padEnd(size, 'x');
    const exact = await sendFile(filler(1_048_576));
    expect([exact.status, exact.body.data.at(-1).error.code]).toEqual([201, 'CSV_CELL_TOO_LONG']);
    expect(codeOf(await sendFile(filler(1_048_577)))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const tooWide = await world.api.send('POST', '/v1/posts/bulk-csv', { key: world.key, body: Buffer.alloc(2_097_153), headers: { 'content-type': formType() } });
    expect([...codeOf(tooWide), tooWide.body.error.details.limit]).toEqual([413, 'PAYLOAD_TOO_LARGE', 2_097_152]);
  });
});

describe('dry_run', () => {
  test('the results of a run, and nothing stored: no post, no event, no outbox row, no unit', async () => {
    const twice = draft({ targets: world.twitter.id, scheduled_at: 'now', content: `twice ${randomUUID()}` });
    const rows = [draft(), twice, twice, draft({ scheduled_at: inSeconds(3_600) }), draft({ targets: 'nobody' }), {} as Record<string, string>, draft({ scheduled_at: 'never' })];
    const before = await rowCounts(world);
    const dry = await send(rows, { query: '?dry_run=true' });
    expect(await rowCounts(world)).toEqual(before);
    const real = await send(rows);
    expect([dry.status, real.status, dry.body.dry_run, real.body.dry_run]).toEqual([200, 201, true, false]);
    expect(codes(dry.body)).toEqual([null, null, 'PREFLIGHT_FAILED', null, 'INVALID_TARGETS', null, 'VALIDATION_ERROR']);
    expect(dry.body.summary).toEqual({ ...real.body.summary, posts_created: 0 });
    const comparable = (data: any[]) => data.map(({ post_id: _id, scheduled_at: _at, error, ...row }) => ({ ...row, error: error?.code }));
    expect(comparable(dry.body.data)).toEqual(comparable(real.body.data));
    expect(dry.body.data.every((row: any) => !('post_id' in row))).toBe(true);
    expect(dry.body.data[3].scheduled_at).toBe(rows[3]!.scheduled_at);
  });

  test('with a key only the receipt is stored; a run is another request', async () => {
    const headers = { 'idempotency-key': 'a-dry-run-replayed' };
    const before = await rowCounts(world);
    const first = await send([draft()], { query: '?dry_run=true', headers });
    expect(await rowCounts(world)).toEqual({ ...before, receipt: before.receipt! + 1 });
    expect((await send([draft()], { query: '?dry_run=true', headers })).text).toBe(first.text);
    expect(codeOf(await send([draft()], { headers }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('what is not left of the units is told, and none is taken', async () => {
    const org = await organization(world.api.infra, { quotaMode: 'hard', quotaUnits: 2 });
    const live = await account(world.api.infra, { organizationId: org.id, mode: 'live', platform: 'mastodon' });
    const key = (await apiKey(world.api.infra, { organizationId: org.id, mode: 'live' })).secret;
    const rows = [1, 2, 3].map(() => ({ targets: live.id, scheduled_at: 'draft', content: 'x' }));
    const dry = await send(rows, { key, query: '?dry_run=true' });
    expect([codes(dry.body), dry.headers.get('x-usage-count')]).toEqual([[null, null, 'QUOTA_EXCEEDED'], '0']);
    const real = await send(rows, { key });
    expect([codes(real.body), real.headers.get('x-usage-count')]).toEqual([[null, null, 'QUOTA_EXCEEDED'], '2']);
    const again = await send(rows, { key });
    expect([...codeOf(again), again.body.error.details.requested]).toEqual([403, 'QUOTA_EXCEEDED', 3]);
    expect((await send(rows, { key, query: '?dry_run=true' })).status).toBe(200);
  });
});

describe('the whole is one request', () => {
  test('a replay under a new boundary is the first reply, byte for byte', async () => {
    const headers = { 'idempotency-key': 'a-file-replayed' };
    const file = csv([draft(), draft({ targets: 'nobody' }), draft({ scheduled_at: 'now' })]);
    const first = await sendFile(file, { headers });
    const before = await rowCounts(world);
    const again = await sendFile(file, { headers, boundary: `drawn-${randomUUID()}` });
    expect([again.status, again.headers.get('idempotency-replayed'), again.text]).toEqual([201, 'true', first.text]);
    expect(await rowCounts(world)).toEqual(before);
    expect(codeOf(await sendFile(`${file}\r\n`, { headers }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('100 simultaneous requests with one key: one executes', async () => {
    const headers = { 'idempotency-key': 'a-hundred-files' };
    const before = await rowCounts(world);
    const file = csv([draft({ scheduled_at: 'now', content: randomUUID() }), draft(), draft({ targets: 'nobody' })]);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => sendFile(file, { headers, boundary: `boundary-${at}` })));
    const after = await rowCounts(world);
    expect([after.post! - before.post!, after.outbox! - before.outbox!, after.receipt! - before.receipt!]).toEqual([2, 1, 1]);
    for (const answer of answers) if (answer.status !== 201) expect(codeOf(answer)).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    expect(new Set(answers.filter((answer) => answer.status === 201).map((answer) => answer.text)).size).toBe(1);
  });

  test('rows that are due start one after the other, as posts of a bulk do', async () => {
    const answer = await send([1, 2, 3].map(() => draft({ scheduled_at: 'now', content: randomUUID() })));
    const starts = await startsOf(world, answer.body.data.map((row: any) => row.post_id));
    expect(starts.map((row) => [row.priority, row.availableAt.getTime() - starts[0]!.availableAt.getTime()])).toEqual([[4, 0], [4, 100], [4, 200]]);
  });
});
