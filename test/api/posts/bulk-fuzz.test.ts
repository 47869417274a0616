import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ERRORS, ROW_CODES } from '../../../infra/contract/errors.ts';
import type { Answer } from '../../support/api.ts';
import { formBytes, formType, type SentPart } from '../../support/form.ts';
import { inSeconds, openWorld, type World } from './world.ts';
import { rowCounts } from './bulk-world.ts';

/*
 * Bulks and files that are nearly right. Whatever is sent: no fault of the service, no code that is not in the catalog,
 * nothing stored of what is refused. `FUZZ_RUNS` is how many of each, within `FUZZ_SECONDS` each; a failure prints the seed that
 * `FUZZ_SEED` takes.
 */

const RUNS = Number(process.env.FUZZ_RUNS ?? 250);
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 25);
const SEED = process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) };
const OPTIONS: fc.Parameters<unknown> = { numRuns: RUNS, interruptAfterTimeLimit: SECONDS * 1_000, ...SEED };
const CODES = new Set<string>([...Object.keys(ERRORS), ...ROW_CODES]);

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

type Counts = Record<string, number>;

/** What the answer promises was done, and nothing else, is in the tables. */
async function keepsItsWord(send: (headers: Record<string, string>) => Promise<Answer>, promised: (body: any) => Partial<Counts>): Promise<void> {
  const before = await rowCounts(world);
  const answer = await send({ 'idempotency-key': randomUUID() });
  const after = await rowCounts(world);
  expect(answer.status).toBeLessThan(500);
  const growth: Counts = Object.fromEntries(Object.keys(after).map((table) => [table, after[table]! - before[table]!]));
  const nothing: Counts = Object.fromEntries(Object.keys(after).map((table) => [table, 0]));
  if (answer.status >= 400) {
    expect(CODES).toContain(answer.body.error.code);
    expect(growth).toEqual(nothing);
    return;
  }
  for (const one of answer.body.data) if (one.error !== undefined) expect(CODES).toContain(one.error.code);
  const promise = promised(answer.body);
  expect(growth).toMatchObject({ ...(promise.post === 0 ? nothing : {}), receipt: 1, ...promise });
}

/** Values that fit somewhere else, or nowhere. */
const strange = fc.oneof(fc.constantFrom(null, '', ' ', 0, -1, 1e21, true, [], {}, '__proto__', 'now', '\u0000', '\uD800', '𝒳', '=1+1', 'x'.repeat(300), [null], { a: [{ b: 1 }] }), fc.jsonValue({ maxDepth: 2 }), fc.string({ maxLength: 30, unit: 'binary' }));

const mostly = <T>(good: readonly T[], ...bad: fc.Arbitrary<T>[]): fc.Arbitrary<T> => fc.oneof({ arbitrary: fc.constantFrom(...good), weight: 9 }, ...bad);

const members = (): Record<string, fc.Arbitrary<unknown>> => ({
  targets: mostly<unknown>([[world.mastodon.id], [world.twitter.id], ['mastodon', 'twitter'], [world.mastodon.id, world.mastodon.id]], fc.array(fc.oneof(strange, fc.constantFrom('mastodon', 'pinterest', `ws_${'0'.repeat(32)}`, `acc_${'f'.repeat(32)}`)), { maxLength: 3 })),
  scheduled_at: mostly(['now', 'draft', 'auto', inSeconds(3_600), inSeconds(-60)], fc.constantFrom(inSeconds(-900), inSeconds(40 * 86_400), '2026-13-01T00:00', '2026-12-01')),
  content: fc.oneof({ arbitrary: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), weight: 6 }, fc.constantFrom('', 'Hello {{name}}', 'x'.repeat(281), 'same text', null)),
  media: fc.array(fc.record({ url: mostly(['https://ex.ample/a.png', 'https://ex.ample/b.jpg'], fc.webUrl(), fc.constantFrom('http://10.0.0.1/a.png', 'ftp://x/y')), type: mostly(['image', 'video'], fc.constant('sound')), alt_text: fc.string() }, { requiredKeys: ['url'] }), { maxLength: 3 }),
  target_options: mostly<unknown>([{ twitter: { reply_settings: 'following' } }, { mastodon: { visibility: 'unlisted' } }], fc.constantFrom({ mastodon: { poll: { options: ['a'], duration_minutes: 1 } } }, { nobody: {} }), fc.dictionary(fc.constantFrom('twitter', 'mastodon', world.twitter.id), fc.dictionary(fc.constantFrom('content', 'media', 'poll', 'threads', 'reply_settings'), strange))),
  timezone: mostly(['UTC', 'europe/berlin'], fc.constant('Mars/Olympus')),
  workspace_id: mostly<unknown>([null], fc.constant(7)),
  notes: fc.string(),
  catch_up: mostly<unknown>([{ max_lateness_seconds: 5 }], fc.constant({ on_late: 'never' })),
  template_variables: fc.dictionary(fc.constantFrom('name', 'a', 'date', '__proto__'), fc.string(), { maxKeys: 3 }),
  tag_ids: mostly<string[]>([[]], fc.constantFrom([`tag_${'0'.repeat(32)}`], ['x'])),
  skip_signature: fc.boolean(), allow_duplicate: fc.boolean(), shorten_urls: fc.boolean(),
});

const OPTIONAL = ['media', 'target_options', 'timezone', 'workspace_id', 'notes', 'catch_up', 'template_variables', 'tag_ids', 'skip_signature', 'allow_duplicate', 'shorten_urls'];

const whole = (): fc.Arbitrary<Record<string, unknown>> => fc.subarray(OPTIONAL, { maxLength: 3 }).chain((more) => {
  const all = members();
  return fc.record(Object.fromEntries(['targets', 'scheduled_at', 'content', ...more].map((name) => [name, all[name]!])));
});

/** A creation of which a member may be gone, strange or unknown. */
const body = (): fc.Arbitrary<unknown> => whole().chain((good) => fc.oneof(
  { arbitrary: fc.constant<unknown>(good), weight: 8 },
  { arbitrary: fc.tuple(fc.constantFrom(...Object.keys(members()), 'idea_id', 'recycling', 'unknown'), strange).map(([name, value]) => ({ ...good, [name]: value })), weight: 2 },
  { arbitrary: fc.constantFrom(...Object.keys(good)).map((name) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))), weight: 1 },
  { arbitrary: strange, weight: 1 },
));

const openTargets = (posts: any[]) => posts.flatMap((post) => Object.values<any>(post.targets)).filter((target) => target.accounts[0].operation_id !== null).length;

test('bulks', async () => {
  const envelope = fc.oneof(
    { arbitrary: fc.record({ posts: fc.array(body(), { minLength: 1, maxLength: 6 }) }) as fc.Arbitrary<unknown>, weight: 9 },
    { arbitrary: fc.record({ posts: strange, unknown: strange }, { requiredKeys: [] }), weight: 1 },
  );
  await fc.assert(fc.asyncProperty(envelope, async (sent) => {
    await keepsItsWord((headers) => world.send('POST', '/v1/posts/bulk', JSON.stringify(sent), { headers }), ({ data, summary }) => {
      const posts = data.filter((one: any) => one.error === undefined);
      expect([data.length, summary]).toEqual([(sent as { posts: unknown[] }).posts.length, { total: data.length, succeeded: posts.length, failed: data.length - posts.length }]);
      expect(data.map((one: any) => one.index)).toEqual(data.map((_: unknown, index: number) => index));
      const targets = posts.flatMap((post: any) => Object.keys(post.targets)).length;
      return { post: posts.length, units: posts.length, target: targets, operation: openTargets(posts), outbox: posts.filter((post: any) => post.status === 'scheduled' || post.status === 'publishing').length };
    });
  }), OPTIONS);
}, (SECONDS + 30) * 1_000);

const COLUMNS = ['targets', 'scheduled_at', 'content', 'media_urls', 'media_alt', 'timezone', 'target_options', 'workspace_id', 'template_id', 'idea_id', 'notes', 'external_id', 'template_variables', 'recycling', 'catch_up', 'shorten_urls', 'skip_signature', 'tags'];

const cellOf = (column: string): fc.Arbitrary<string> => {
  const anything = fc.oneof(fc.constantFrom('', ' ', '=1+1', '@x', '"', '""', 'a;b|c', '{', '{"a":1}', '[]', 'null', 'x\r\ny', '\u0000', '\uFEFF', '\uFFFD', '😀'), fc.string({ maxLength: 20, unit: 'binary' }).map((text) => text.toWellFormed()));
  const known: Record<string, string[]> = {
    targets: [world.mastodon.id, 'twitter;mastodon', `${world.twitter.id} | mastodon;`], scheduled_at: ['draft', 'now', 'auto', ' draft ', inSeconds(600), inSeconds(600).slice(0, 16)], content: ['Hello', 'same text', 'Zwei\nZeilen', 'a,b;c\td'],
    target_options: ['{"twitter":{"reply_settings":"following"}}', '{"mastodon":{"visibility":"nobody"}}'], timezone: ['UTC', 'Europe/Berlin'], media_urls: ['https://ex.ample/a.png; https://ex.ample/b.png', ''], shorten_urls: ['no', 'FALSE', '0'], skip_signature: ['1', 'No'], catch_up: ['{"on_late":"skip"}'],
  };
  return known[column] === undefined ? fc.oneof({ arbitrary: fc.constant(''), weight: 12 }, { arbitrary: anything, weight: 1 }) : fc.oneof({ arbitrary: fc.constantFrom(...known[column]), weight: 15 }, { arbitrary: anything, weight: 1 });
};

interface Sheet {
  text: string;
  encoding: 'utf8' | 'utf8 with a mark' | 'utf16le' | 'utf16be';
}

/** A file whose header, quoting, line ends and encoding vary as those of spreadsheets do. */
const sheet = (): fc.Arbitrary<Sheet> => fc.record({
  columns: fc.shuffledSubarray(COLUMNS.slice(2), { maxLength: 5 }).map((more) => ['targets', 'scheduled_at', ...more]),
  headerFault: fc.constantFrom<string[]>(...Array.from({ length: 20 }, () => []), ['unknown'], ['targets'], [''], Array.from({ length: 63 }, () => 'x')),
  delimiter: fc.constantFrom(',', ';', '\t'), end: fc.constantFrom('\n', '\r\n', '\r'), isLoud: fc.boolean(), quoting: fc.constantFrom('always', 'when needed', 'never'),
  extra: fc.array(fc.constantFrom(0, 0, 0, 1, -1), { minLength: 6, maxLength: 6 }), count: fc.nat(6), encoding: fc.constantFrom<Sheet['encoding']>('utf8', 'utf8', 'utf8 with a mark', 'utf16le', 'utf16be'),
}).chain(({ columns, headerFault, delimiter, end, isLoud, quoting, extra, count, encoding }) => fc.array(fc.tuple(...columns.map(cellOf)), { minLength: count, maxLength: count }).map((rows) => {
  const write = (cell: string) => (quoting === 'always' || (quoting === 'when needed' && /[",;\t\r\n]/.test(cell)) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const header = [...columns, ...headerFault].map((name) => (isLoud ? ` ${name.toUpperCase()} ` : name));
  const lines = rows.map((cells, index) => (extra[index]! > 0 ? [...cells, 'x'] : extra[index]! < 0 ? cells.slice(0, -1) : cells).map(write).join(delimiter));
  return { text: [header.map(write).join(delimiter), ...lines].join(end), encoding };
}));

function bytesOf({ text, encoding }: Sheet): Buffer {
  if (encoding === 'utf8') return Buffer.from(text);
  if (encoding === 'utf8 with a mark') return Buffer.from(`\uFEFF${text}`);
  const units = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return encoding === 'utf16le' ? units : units.swap16();
}

/** Bytes of which one was lost, doubled or changed, or the end cut off. */
const damaged = (bytes: Buffer): fc.Arbitrary<Buffer> => fc.tuple(fc.nat(Math.max(0, bytes.length - 1)), fc.nat(255), fc.constantFrom('change', 'lose', 'double', 'cut')).map(([at, byte, how]) => {
  if (how === 'cut') return bytes.subarray(0, at);
  const here = bytes.subarray(at, at + 1);
  return Buffer.concat([bytes.subarray(0, at), how === 'change' ? Buffer.from([byte]) : how === 'double' ? Buffer.concat([here, here]) : Buffer.alloc(0), bytes.subarray(at + 1)]);
});
const perhapsDamaged = (bytes: Buffer) => fc.oneof({ arbitrary: fc.constant(bytes), weight: 6 }, { arbitrary: damaged(bytes), weight: 1 });

const otherParts: fc.Arbitrary<SentPart[]> = fc.oneof(
  { arbitrary: fc.constant<SentPart[]>([]), weight: 3 },
  fc.array(fc.record({ name: fc.constantFrom('timezone', 'delimiter', 'dry_run', 'workspace_id', 'file', 'other'), content: fc.constantFrom('UTC', 'comma', 'true', 'false', '', 'x') }, { requiredKeys: ['content'] }), { maxLength: 2 }),
);

test('files', async () => {
  const request = sheet().chain((one) => perhapsDamaged(bytesOf(one))).chain((content) => otherParts.chain((parts) => fc.record({
    form: perhapsDamaged(formBytes([{ name: 'file', fileName: 'a.csv', content }, ...parts])), query: mostly(['', '', '?dry_run=true', '?timezone=Asia%2FTokyo'], fc.constantFrom('?delimiter=comma', '?delimiter=tabs')),
  })));
  await fc.assert(fc.asyncProperty(request, async ({ form, query }) => {
    await keepsItsWord((headers) => world.api.send('POST', `/v1/posts/bulk-csv${query}`, { key: world.key, body: form, headers: { 'content-type': formType(), ...headers } }), ({ data, summary, dry_run }) => {
      const of = (status: string) => data.filter((row: any) => row.status === status).length;
      expect(data.map((row: any) => row.row)).toEqual(data.map((_: unknown, index: number) => index + 1));
      for (const [index, row] of data.entries()) expect(row.line).toBeGreaterThan(data[index - 1]?.line ?? 1);
      expect(summary).toEqual({ total_rows: data.length, succeeded: of('success'), failed: of('error'), skipped: of('skipped'), posts_created: dry_run ? 0 : of('success') });
      expect(data.filter((row: any) => row.post_id !== undefined)).toHaveLength(summary.posts_created);
      return { post: summary.posts_created, units: summary.posts_created };
    });
  }), OPTIONS);
}, (SECONDS + 30) * 1_000);
