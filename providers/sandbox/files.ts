import { findWords } from './words.ts';

const NEEDLE = Buffer.from('[[sandbox:');
const WORD_MAX_BYTES = 120;
const WORDS_MAX = 10;

/** Magic words inside a file, so that uploads can be tested on platforms where they come before any text. */
export function wordsInFile(content: Buffer): string {
  const found: string[] = [];
  for (let at = content.indexOf(NEEDLE); at >= 0 && found.length < WORDS_MAX; at = content.indexOf(NEEDLE, at + 1)) {
    const [word] = findWords([content.subarray(at, at + WORD_MAX_BYTES).toString('latin1')]);
    if (word !== undefined) found.push(`[[sandbox:${word.written}]]`);
  }
  return found.join(' ');
}

/** The type that the first bytes show, or `null` for none that is known. */
export function sniff(head: Buffer): string | null {
  const ascii = head.subarray(0, 16).toString('latin1');
  if (ascii.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (ascii.startsWith('\x89PNG\r\n')) return 'image/png';
  if (ascii.startsWith('GIF87a') || ascii.startsWith('GIF89a')) return 'image/gif';
  if (ascii.startsWith('RIFF') && ascii.slice(8, 12) === 'WEBP') return 'image/webp';
  if (ascii.startsWith('RIFF') && ascii.slice(8, 12) === 'WAVE') return 'audio/wav';
  if (ascii.startsWith('\x1aE\xdf\xa3')) return 'video/webm';
  if (ascii.startsWith('ID3') || /^\xff[\xe2-\xfb]/.test(ascii)) return 'audio/mpeg';
  if (ascii.startsWith('OggS')) return 'audio/ogg';
  return ascii.slice(4, 8) === 'ftyp' ? brandType(ascii.slice(8, 12)) : null;
}

function brandType(brand: string): string {
  if (brand === 'qt  ') return 'video/quicktime';
  if (brand === 'heic' || brand === 'heix' || brand === 'mif1') return 'image/heic';
  if (brand === 'avif') return 'image/avif';
  return brand === 'M4A ' ? 'audio/mp4' : 'video/mp4';
}
