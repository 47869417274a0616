import { findWords, wordFor, type Word } from './words.ts';
import type { Call } from './platforms/platform.ts';
import type { MediaState, StoredMedia } from './store/media.ts';

const USUAL_MS = 300;
const SLOW_MS = 20_000;

export interface Processing {
  state: MediaState;
  readyAt: Date | null;
  fails: boolean;
  /** A word decided this, so the same word does not decide again when the object is published. */
  byWord: boolean;
}

/** How the processing of an upload will go: a word, else the behaviour of the account, else the usual moment for what takes one. */
export async function processingOf(call: Call, texts: (string | null)[], takesTime: boolean): Promise<Processing> {
  const recalled = await call.sandbox.usedWords.recall(call.account.id, call.trace.operationId);
  const word = processingWord(call, [...texts, recalled]);
  if (word !== null) return fromWord(word);
  switch (call.account.behaviour) {
    case 'processing_slow': return { ...inMs(SLOW_MS), fails: false, byWord: false };
    case 'processing_failed': return { ...inMs(USUAL_MS), fails: true, byWord: false };
    default: return takesTime ? { ...inMs(USUAL_MS), fails: false, byWord: false } : { state: 'ready', readyAt: null, fails: false, byWord: false };
  }
}

/**
 * The text of a post often arrives after its media. A word in it then acts on what was uploaded before: the media go back into
 * processing, and the platform refuses them as it refuses media that are not ready.
 */
export async function processAgain(call: Call, media: StoredMedia[], texts: (string | null)[]): Promise<StoredMedia[]> {
  const word = processingWord(call, texts);
  if (word === null) return media;
  // The post may be refused because of this, and then its text is read nowhere else.
  await call.sandbox.usedWords.remember(call.account.id, call.trace.operationId, findWords(texts));
  return Promise.all(media.map(async (item) => {
    if (item.detail.by_word === true) return item;
    const processing = fromWord(word);
    const change = { state: processing.state, readyAt: processing.readyAt, detail: { ...item.detail, by_word: true, fails: processing.fails } };
    await call.sandbox.media.change(call.platform.name, item.id, change);
    return { ...item, ...change };
  }));
}

function processingWord(call: Call, texts: (string | null)[]): Word | null {
  const words = findWords(texts);
  return words.length === 0 ? null : wordFor(words, 'processing', { platform: call.platform.name, step: call.step, deciding: true });
}

function fromWord(word: Word): Processing {
  const fails = word.name === 'fail-processing';
  return fails ? { state: 'failed', readyAt: null, fails, byWord: true } : { ...inMs(Number(word.argument) * 1_000), fails, byWord: true };
}

function inMs(ms: number): { state: MediaState; readyAt: Date } {
  return { state: 'processing', readyAt: new Date(Date.now() + ms) };
}
