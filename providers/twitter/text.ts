import twitterText from 'twitter-text';
import { remembered } from '../common/remembered.ts';
import { finalText } from '../common/text.ts';

/**
 * The platform's own counting (twitter-text, configuration v3). Its search for addresses takes time that grows with the
 * square of a word's length (16 s for 100,000 characters without a blank), so it is given one word at a time, and words
 * longer than any address can be are counted without it.
 */
const ADDRESS_MAX_CHARS = 2_048;
/** Without a dot there is no address in it, and each of these characters counts one. */
const PLAIN_WORD = /^(?:[\x21-\x2d\x2f-\x7e]+|[ \t\n]+)$/;

export function weightedLength(text: string | null): number {
  return weighed(finalText(text).normalize('NFC'));
}

const weighed = remembered((text) => {
  let length = 0;
  for (const word of words(text)) {
    length += PLAIN_WORD.test(word) ? word.length : word.length <= ADDRESS_MAX_CHARS ? twitterText.parseTweet(word).weightedLength : plainWeight(word);
  }
  return length;
});

/** Text and addresses in the one form in which what was sent and what is read back are equal. */
export function comparable(text: string): string {
  return words(finalText(text).normalize('NFC')).map(comparableWord).join('').trim();
}

export function comparableAddress(url: string): string {
  return url.replace(/^https?:\/\//i, '').replace(/\/$/, '');
}

export function cashtags(text: string | null): number {
  return countCashtags(finalText(text));
}

const countCashtags = remembered((text) => new Set(words(text).flatMap((word) => (word.length <= ADDRESS_MAX_CHARS ? twitterText.extractCashtags(word) : []))).size);

/** Words and the blanks between them. Neither addresses nor emoji have blanks within. */
function words(text: string): string[] {
  return text.split(/(\s+)/).filter((word) => word !== '');
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

function plainWeight(word: string): number {
  let weight = 0;
  for (const { segment } of segmenter.segment(word)) weight += /\p{Extended_Pictographic}/u.test(segment) ? 2 : [...segment].reduce((sum, character) => sum + characterWeight(character.codePointAt(0) ?? 0), 0);
  return weight;
}

/** The ranges of configuration v3. */
function characterWeight(code: number): number {
  return code <= 4351 || (code >= 8192 && code <= 8205) || (code >= 8208 && code <= 8223) || (code >= 8242 && code <= 8247) ? 1 : 2;
}

function comparableWord(word: string): string {
  if (word.length > ADDRESS_MAX_CHARS) return word;
  let result = '';
  let at = 0;
  for (const { url, indices } of twitterText.extractUrlsWithIndices(word)) {
    result += word.slice(at, indices[0]) + comparableAddress(url);
    at = indices[1];
  }
  return result + word.slice(at);
}
