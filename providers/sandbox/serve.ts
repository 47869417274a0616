import { setTimeout as sleep } from 'node:timers/promises';
import { behaviourReply, LISTING_LATE_MS } from './behaviours.ts';
import type { Answered, NewEntry, NewObject } from './ledger.ts';
import { misbehaviourOf, type Ending } from './misbehave.ts';
import { isDeed, type Call, type Deed, type Done } from './platforms/platform.ts';
import type { Reply } from './reply.ts';
import { findWords, wordFor, type Occasion, type Word } from './words.ts';

/**
 * From a received call to its ending: behaviour of the account, validation by the platform, magic words, ledger, answer. What is
 * done is committed when this returns; nothing has been sent yet. Dies in the middle: the caller's connection breaks, and the
 * ledger says whether anything was done.
 */
export async function serve(call: Call): Promise<Ending> {
  const allowance = call.signedIn ? call.sandbox.limits.take(call.account.id, call.route.bucket) : null;
  const ownHeaders = allowance === null ? {} : call.platform.allowanceHeaders(allowance);
  const dressed = (reply: Reply): Reply => ({ ...reply, headers: { ...ownHeaders, ...reply.headers } });

  const gate = behaviourReply(call);
  const outcome = await call.route.handle(call);
  if (!isDeed(outcome)) {
    if (outcome.lost === true) return { kind: 'reset' };
    return { kind: 'reply', reply: dressed(outcome.status < 400 && gate === null ? outcome : await refused(call, gate ?? outcome)) };
  }

  const words = await wordsOf(call, outcome);
  const word = await actingWord(call, outcome, words);
  if (word === null && gate !== null) return { kind: 'reply', reply: dressed(await refused(call, gate)) };
  const reading = wordFor(words, 'reading', { ...occasionOf(call), deciding: call.route.deciding === true });
  if (word === null) return { kind: 'reply', reply: dressed((await carryOut(call, outcome, { answered: 'success', word: null, reading })).reply) };

  const misbehaviour = misbehaviourOf(word);
  if (misbehaviour.acts) {
    const done = await carryOut(call, outcome, { answered: misbehaviour.answered, word, reading });
    return misbehaviour.end(call, word, { reply: dressed(done.reply), withoutProof: dressed(done.withoutProof) });
  }
  await writeRequest(call, { answered: misbehaviour.answered, word, absent: reading?.name === 'hide-listing' ? outcome.entry?.object : undefined });
  return misbehaviour.end(call, word, { reply: NOTHING, withoutProof: NOTHING });
}

const NOTHING: Reply = { status: 500, headers: {}, body: Buffer.alloc(0) };

export function occasionOf(call: Call): Occasion {
  return { platform: call.platform.name, step: call.step, deciding: call.deciding };
}

async function wordsOf(call: Call, deed: Deed): Promise<Word[]> {
  const { usedWords } = call.sandbox;
  const recalled = call.route.effect === 'private' ? await usedWords.recall(call.account.id, call.trace.operationId) : null;
  const words = findWords([...deed.texts, recalled]);
  if (call.route.deciding === true) await usedWords.remember(call.account.id, call.trace.operationId, words);
  return words;
}

/** The word that acts on this answer, if this is the first request of its step for its object. */
async function actingWord(call: Call, deed: Deed, words: readonly Word[]): Promise<Word | null> {
  const word = wordFor(words, 'answer', occasionOf(call));
  if (word === null || call.followed || (word.name === 'drop-midway' && call.midwayPassed === true)) return null;
  if (word.name.endsWith('-always')) return word;
  const { operationId, attempt } = call.trace;
  // A new attempt after a retry is another operation for the same object: it is answered normally.
  if (call.deciding && attempt !== null && attempt > 1) return null;
  const subject = call.route.effect === 'public' ? `${deed.subject}\n${operationId ?? ''}` : operationId ?? deed.subject;
  const first = await call.sandbox.usedWords.claim({ accountId: call.account.id, subject, step: call.step ?? call.route.path, word: word.name });
  return first ? word : null;
}

interface Manner {
  answered: Answered;
  word: Word | null;
  reading: Word | null;
}

async function carryOut(call: Call, deed: Deed, { answered, word, reading }: Manner): Promise<Done> {
  if (deed.entry === null) {
    await deed.apply?.();
    return deed.answer({ outcome: 'done' });
  }
  const entry: NewEntry = { ...deed.entry, answered, word: call.followed ? 'redirect' : word?.written ?? reading?.written ?? null };
  if (entry.object !== undefined) entry.object = asRead(call, entry.object, reading);
  const written = await call.sandbox.ledger.write(entry);
  if (written.outcome === 'done') {
    await deed.apply?.();
    if (entry.object?.vanish_at) call.sandbox.vanishing.expect(new Date(entry.object.vanish_at));
  }
  return deed.answer(written);
}

/** What words and behaviour say about reading the object later. */
function asRead(call: Call, object: NewObject, reading: Word | null): NewObject {
  const after = (ms: number): string => new Date(Date.parse(object.created_at) + ms).toISOString();
  const ms = Number(reading?.argument ?? 0) * 1_000;
  switch (reading?.name) {
    case 'hide-listing': return { ...object, hidden: true };
    case 'late-listing': return { ...object, visible_at: after(ms) };
    case 'vanish': return { ...object, vanish_at: after(ms) };
    default: return call.account.behaviour === 'listing_late' ? { ...object, visible_at: after(LISTING_LATE_MS) } : object;
  }
}

/** Notes a refusal at a public step in the ledger, and gives it back. */
async function refused(call: Call, reply: Reply): Promise<Reply> {
  if (call.route.effect === 'public' && call.signedIn) {
    const answered = reply.status === 429 ? 'rate_limited' : reply.status >= 500 ? 'error' : 'refused';
    await writeRequest(call, { answered, word: null });
  }
  return reply;
}

/** A row for what arrived at a public step and did nothing. `absent`: lists must fail as if the object were there and hidden. */
export async function writeRequest(call: Call, row: { answered: Answered; word: Word | null; absent?: NewObject }): Promise<void> {
  if (call.route.effect !== 'public') return;
  await call.sandbox.ledger.write({
    ...entryOf(call), kind: 'request', answered: row.answered, word: row.word?.written ?? null,
    ...(row.absent === undefined ? {} : { object: { ...row.absent, state: 'absent', hidden: true } }),
  });
}

/** The part of a ledger entry that every call of an account has. */
export function entryOf(call: Call): Pick<NewEntry, 'organization_id' | 'account_id' | 'platform' | 'operation_id' | 'step' | 'attempt' | 'request' | 'media'> {
  return {
    organization_id: call.account.organizationId, account_id: call.account.id, platform: call.platform.name,
    operation_id: call.trace.operationId, step: call.step, attempt: call.trace.attempt, request: call.request, media: [],
  };
}

/** Real platforms take a moment. The wait is counted from the arrival, so the work of the sandbox is inside it. */
export async function waitLatency(receivedAt: Date, latencyMs: number): Promise<void> {
  if (latencyMs === 0) return;
  const left = receivedAt.getTime() + latencyMs * (0.5 + Math.random()) - Date.now();
  if (left >= 1) await sleep(left);
}
