import { expect, test } from '@jest/globals';
import { assert, property, string } from 'fast-check';
import { findWords, wordFor, WORDS } from '../../providers/sandbox/words.ts';

const names = (...texts: (string | null)[]): string[] => findWords(texts).map((word) => word.written);
const publish = { platform: 'twitter', step: 'publish', deciding: true };
const acting = (text: string, occasion = publish): string | null => wordFor(findWords([text]), 'answer', occasion)?.written ?? null;

test('magic words › are found in brackets anywhere and bare between white space', () => {
  expect(names('Hello[[sandbox:drop-after]]!')).toEqual(['drop-after']);
  expect(names('sandbox:hang\nsandbox:vanish=5 end sandbox:late')).toEqual(['hang', 'vanish=5', 'late']);
  expect(names('xsandbox:hang', 'sandbox:hang.', '"sandbox:hang"')).toEqual([]);
});

test('magic words › unknown names, arguments, platforms and other cases are plain text', () => {
  expect(names('[[sandbox:explode]]', '[[sandbox:Drop-After]]', '[[SANDBOX:hang]]', '[[sandbox:myspace:hang]]', '[[sandbox:hang=3]]')).toEqual([]);
  expect(names('[[sandbox:rate-limit=0]]', '[[sandbox:rate-limit=601]]', '[[sandbox:refuse=everything]]', '[[sandbox:late=56]]', '[[sandbox:late=1e1]]')).toEqual([]);
  expect(names('[[sandbox:twin]]', '[[sandbox:fail-comment]]', '[[sandbox:]]', '[[sandbox:hang@]]', null, '')).toEqual([]);
});

test('magic words › arguments have the defaults of the table', () => {
  const [refuse, limit, late, vanish] = findWords(['sandbox:refuse sandbox:rate-limit sandbox:late sandbox:vanish=3']);
  expect([refuse?.argument, limit?.argument, late?.argument, vanish?.argument]).toEqual(['content', 2, 45, 3]);
});

test('magic words › escaping by HTML and markdown is undone before looking', () => {
  expect(names('&#91;&#x5b;sandbox&colon;drop-after&rsqb;&rsqb;', String.raw`\[\[sandbox:drop\-after\]\]`, '&amp;#91;[sandbox:hang]]')).toEqual(['drop-after', 'drop-after', 'hang']);
});

test('magic words › one word per group acts: the first, and one for this platform before a general one', () => {
  expect(acting('sandbox:hang sandbox:drop-after')).toBe('hang');
  expect(acting('sandbox:hang [[sandbox:twitter:drop-after]]')).toBe('twitter:drop-after');
  expect(acting('[[sandbox:mastodon:drop-after]]')).toBeNull();
  const words = findWords(['sandbox:hide-listing sandbox:drop-after']);
  expect([wordFor(words, 'answer', publish)?.name, wordFor(words, 'reading', publish)?.name]).toEqual(['drop-after', 'hide-listing']);
});

test('magic words › without a step they act on the deciding step, with a step on that one only', () => {
  const upload = { platform: 'twitter', step: 'media_upload_1', deciding: false };
  expect(acting('sandbox:hang', upload)).toBeNull();
  expect(acting('sandbox:hang@media_upload_1', upload)).toBe('hang@media_upload_1');
  expect(acting('sandbox:hang@media_upload_1')).toBeNull();
  expect(acting('sandbox:hang@publish')).toBe('hang@publish');
});

test('magic words › only=n lets the others act on that item alone', () => {
  const words = findWords(['sandbox:only=2 sandbox:refuse']);
  expect([0, 1, 2].map((item) => wordFor(words, 'answer', { ...publish, item })?.name)).toEqual([undefined, undefined, 'refuse']);
});

test('magic words › any text is read without harm, and every listed word is found in every form', () => {
  assert(property(string({ unit: 'binary', maxLength: 200 }), (text) => {
    findWords([text, `[[sandbox:${text}]]`, `sandbox:${text}`]);
  }));
  for (const { name } of WORDS) expect(names(`[[sandbox:mastodon:${name}@publish]]`, `sandbox:${name}`)).toHaveLength(2);
});

// Reading that is not linear would take longer than any test may.
test('magic words › a long text of near misses is read in time', () => {
  findWords(['[[sandbox:'.repeat(10_000), `sandbox:${'a-'.repeat(50_000)}`, '&'.repeat(100_000) + 'sandbox', '[[sandbox:a=b@'.repeat(7_000)]);
});
