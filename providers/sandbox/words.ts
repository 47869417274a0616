import { isPlatform } from '../../infra/contract/platforms.ts';

/** Magic words: what a text asks the sandbox to do wrong. Pure; what a word then does to an answer is in misbehave.ts. */
export type WordGroup = 'answer' | 'reading' | 'processing' | 'selection';

export interface WordRule {
  name: string;
  group: WordGroup;
  argument: { kind: 'integer'; min: number; max: number; fallback: number } | { kind: 'choice'; values: readonly string[]; fallback: string } | null;
  description: string;
}

export const REFUSALS = ['content', 'too-long', 'media', 'permission', 'quota', 'restricted', 'gone', 'other'] as const;
export type Refusal = (typeof REFUSALS)[number];

const seconds = (max: number, fallback: number): WordRule['argument'] => ({ kind: 'integer', min: 1, max, fallback });
const plain = (name: string, group: WordGroup, description: string): WordRule => ({ name, group, argument: null, description });

/** The closed list. A word that is not here is plain text. */
export const WORDS: readonly WordRule[] = [
  { name: 'refuse', group: 'answer', argument: { kind: 'choice', values: REFUSALS, fallback: 'content' }, description: 'Answers with a documented refusal of the platform. Nothing becomes public.' },
  plain('duplicate', 'answer', 'Answers with the refusal of a duplicate, or a plain refusal on platforms without one.'),
  plain('expired', 'answer', 'Answers once that the token has expired. The refresh works.'),
  { name: 'rate-limit', group: 'answer', argument: seconds(600, 2), description: 'Answers once with the rate-limit error, with this wait in seconds.' },
  { name: 'rate-limit-always', group: 'answer', argument: seconds(600, 2), description: 'Answers every time with the rate-limit error, with this wait in seconds.' },
  plain('500-before', 'answer', 'Answers 500 with an undocumented body. Nothing becomes public.'),
  plain('500-after', 'answer', 'Publishes, then answers 500 with an undocumented body.'),
  plain('503-before', 'answer', 'Answers 503 with the page of a proxy. Nothing becomes public.'),
  plain('drop-before', 'answer', 'Reads the request, then resets the connection. Nothing becomes public.'),
  plain('drop-after', 'answer', 'Publishes, then resets the connection.'),
  plain('drop-midway', 'answer', 'Resets the connection after half of the request body. Nothing becomes public.'),
  plain('hang', 'answer', 'Publishes and never answers; the connection is closed after 10 minutes.'),
  plain('hang-before', 'answer', 'Never answers and never publishes; the connection is closed after 10 minutes.'),
  { name: 'late', group: 'answer', argument: seconds(55, 45), description: 'Publishes and gives the right answer after this many seconds.' },
  plain('truncate', 'answer', 'Publishes, sends half of the answer and closes the connection.'),
  plain('garble', 'answer', 'Publishes, then answers 200 with an HTML page.'),
  plain('huge', 'answer', 'Publishes, then answers 200 with 3 MiB of valid JSON.'),
  plain('no-id', 'answer', 'Publishes, then answers with success but without the documented proof.'),
  plain('redirect', 'answer', 'Answers 307 to another path that would publish. Following it is a defect.'),
  plain('hide-listing', 'reading', 'Reads of the object, and of lists that would hold it, answer 503.'),
  { name: 'late-listing', group: 'reading', argument: seconds(600, 30), description: 'The object appears in reads and lists only after this many seconds.' },
  { name: 'vanish', group: 'reading', argument: seconds(600, 10), description: 'The object is removed this many seconds after publication.' },
  { name: 'slow-processing', group: 'processing', argument: seconds(600, 20), description: 'Processing takes this many seconds.' },
  plain('fail-processing', 'processing', 'Processing ends in the failure state of the platform.'),
  { name: 'only', group: 'selection', argument: { kind: 'integer', min: 0, max: 99_999, fallback: 0 }, description: 'The other words act on this recipient or thread item alone, counted from 0.' },
];

const RULES = new Map(WORDS.map((rule) => [rule.name, rule]));

export interface Word {
  name: string;
  group: WordGroup;
  /** The argument, or the default of the rule; `null` where the word takes none. */
  argument: string | number | null;
  platform: string | null;
  step: string | null;
  /** As written, from the platform or name on: what the ledger shows. */
  written: string;
}

const BODY = '(?:([a-z]+):)?([0-9a-z-]+?)(?:=([0-9a-z-]{1,16}))?(?:@([a-z0-9_]{1,64}))?';
const BRACKETED = `\\[\\[sandbox:${BODY}\\]\\]`;
const BARE = `(?<![^\\s])sandbox:${BODY}(?![^\\s])`;
const PATTERN = new RegExp(`${BRACKETED}|${BARE}`, 'g');

/** Every word in the texts, in the order of the texts. */
export function findWords(texts: readonly (string | null | undefined)[]): Word[] {
  const found: Word[] = [];
  for (const text of texts) {
    // Most texts have no word, and this search is all that they cost.
    if (!text || !text.includes('sandbox')) continue;
    for (const match of unescaped(text).matchAll(PATTERN)) {
      const word = readWord(match[0], match[2] === undefined ? match.slice(5, 9) : match.slice(1, 5));
      if (word !== null) found.push(word);
    }
  }
  return found;
}

function readWord(written: string, [platform = null, name = '', argument = null, step = null]: (string | null | undefined)[]): Word | null {
  const rule = RULES.get(name ?? '');
  if (rule === undefined || (platform !== null && !isPlatform(platform))) return null;
  const value = readArgument(rule, argument);
  if (value === undefined) return null;
  return { name: rule.name, group: rule.group, argument: value, platform, step, written: written.replace(/^(?:\[\[)?sandbox:|\]\]$/g, '') };
}

function readArgument(rule: WordRule, argument: string | null): string | number | null | undefined {
  if (rule.argument === null) return argument === null ? null : undefined;
  if (argument === null) return rule.argument.fallback;
  if (rule.argument.kind === 'choice') return rule.argument.values.includes(argument) ? argument : undefined;
  const number = /^[0-9]+$/.test(argument) ? Number(argument) : Number.NaN;
  return number >= rule.argument.min && number <= rule.argument.max ? number : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { lsqb: '[', lbrack: '[', rsqb: ']', rbrack: ']', colon: ':', equals: '=', commat: '@', lowbar: '_', hyphen: '-', amp: '&' };

/** Undoes HTML and markdown escaping, which platforms and adapters may have put between the letters of a word. */
function unescaped(text: string): string {
  return text
    .replaceAll('&amp;', '&')
    .replace(/&#(x[0-9a-f]{1,6}|[0-9]{1,7});/gi, (whole, code: string) => character(code) ?? whole)
    .replace(/&([a-z]+);/gi, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole)
    .replace(/\\([[\]:=@_-])/g, '$1');
}

function character(code: string): string | null {
  const point = code[0]?.toLowerCase() === 'x' ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 10);
  return point <= 0x10ffff ? String.fromCodePoint(point) : null;
}

export interface Occasion {
  platform: string;
  /** The step of the plan that this request belongs to, where known. */
  step: string | null;
  /** Whether this is the step that makes the content public: words without a step act here. */
  deciding: boolean;
  /** Position in a list of recipients or items. */
  item?: number;
}

/** The one word of a group that acts on this occasion: the first for this platform, else the first general one. */
export function wordFor(words: readonly Word[], group: WordGroup, occasion: Occasion): Word | null {
  const only = words.find((word) => word.group === 'selection' && appliesTo(word, occasion.platform));
  if (only !== undefined && only.argument !== (occasion.item ?? 0)) return null;
  const candidates = words.filter((word) => word.group === group && appliesTo(word, occasion.platform)
    && (word.step === null ? occasion.deciding : word.step === occasion.step));
  return candidates.find((word) => word.platform !== null) ?? candidates[0] ?? null;
}

function appliesTo(word: Word, platform: string): boolean {
  return word.platform === null || word.platform === platform;
}
