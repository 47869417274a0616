import { scrub } from './log.ts';

/** Text of a platform as it may be kept and shown: without what looks like a secret, cut between characters, and such that PostgreSQL takes it. */
export function storable(text: string | null, mostChars: number): string | null {
  if (text === null) return null;
  return [...scrub(text).replaceAll('\0', ' ').toWellFormed()].slice(0, mostChars).join('');
}
