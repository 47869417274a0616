import type { ServerResponse } from 'node:http';
import type { Answered } from './ledger.ts';
import type { Call, Done } from './platforms/platform.ts';
import { json, sendReply, text, type Reply } from './reply.ts';
import type { Refusal, Word } from './words.ts';

/** What the caller gets to see in the end. */
export type Ending =
  | { kind: 'reply'; reply: Reply; afterMs?: number }
  | { kind: 'half'; reply: Reply }
  | { kind: 'reset' }
  | { kind: 'hang' };

/** What a word of the group `answer` makes of a request: whether it is carried out at all, what the ledger calls it, and how it ends. */
interface Misbehaviour {
  acts: boolean;
  answered: Answered;
  end(call: Call, word: Word, done: Done): Ending;
}

const HANG_MS = 600_000;
const HUGE_BYTES = 3 * 1_048_576;
/** A path that does the same: what `redirect` points to. */
export const FOLLOWED_PREFIX = '/~followed';

const internalError = (): Reply => text(500, 'internal error');
const reply = (made: Reply): Ending => ({ kind: 'reply', reply: made });

const refuses = (answered: Answered, make: (call: Call, word: Word) => Reply): Misbehaviour => ({
  acts: false, answered, end: (call, word) => reply(make(call, word)),
});
const before = (answered: Answered, ending: Ending): Misbehaviour => ({ acts: false, answered, end: () => ending });
const after = (answered: Answered, end: Misbehaviour['end']): Misbehaviour => ({ acts: true, answered, end });

const rateLimit = refuses('rate_limited', (call, word) => call.platform.replies.rateLimited(call.route.bucket, Number(word.argument)));

const MISBEHAVIOURS: Readonly<Record<string, Misbehaviour>> = {
  refuse: refuses('refused', (call, word) => call.platform.replies.refuse(word.argument as Refusal, call)),
  duplicate: refuses('refused', (call) => call.platform.replies.duplicate()),
  expired: refuses('refused', (call) => call.platform.replies.expired()),
  'rate-limit': rateLimit,
  'rate-limit-always': rateLimit,
  '500-before': refuses('error', internalError),
  '500-after': after('error', () => reply(internalError())),
  '503-before': refuses('error', () => text(503, PROXY_PAGE, 'text/html')),
  'drop-before': before('dropped', { kind: 'reset' }),
  'drop-midway': before('dropped', { kind: 'reset' }),
  'drop-after': after('dropped', () => ({ kind: 'reset' })),
  'hang-before': before('hung', { kind: 'hang' }),
  hang: after('hung', () => ({ kind: 'hang' })),
  late: after('late', (_, word, done) => ({ kind: 'reply', reply: done.reply, afterMs: Number(word.argument) * 1_000 })),
  truncate: after('truncated', (_, __, done) => ({ kind: 'half', reply: done.reply })),
  garble: after('garbled', () => reply(text(200, GARBLED_PAGE, 'text/html'))),
  huge: after('huge', (_, __, done) => reply(json(200, { padding: 'x'.repeat(HUGE_BYTES), answer: parsed(done.reply) }))),
  'no-id': after('no_proof', (_, __, done) => reply(done.withoutProof)),
  redirect: refuses('redirected', (call) => ({ status: 307, headers: { location: followedPath(call) }, body: Buffer.alloc(0) })),
};

export function misbehaviourOf(word: Word): Misbehaviour {
  return MISBEHAVIOURS[word.name]!;
}

const PROXY_PAGE = '<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n<body>\r\n<center><h1>503 Service Temporarily Unavailable</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n';
const GARBLED_PAGE = '<!DOCTYPE html><html><head><title>Welcome</title></head><body><p>You are connected to the network.</p></body></html>';

function parsed(made: Reply): unknown {
  return made.body.length === 0 ? null : JSON.parse(made.body.toString('utf8'));
}

function followedPath(call: Call): string {
  const query = call.query.size === 0 ? '' : `?${call.query}`;
  return call.request.path.split('?')[0]!.replace(call.path, FOLLOWED_PREFIX + call.path) + query;
}

/** Puts an ending on the wire. By now everything is committed. */
export function finish(response: ServerResponse, ending: Ending): void {
  switch (ending.kind) {
    case 'reply':
      if (ending.afterMs === undefined) sendReply(response, ending.reply);
      else later(response, ending.afterMs, () => sendReply(response, ending.reply));
      return;
    case 'half': return sendHalf(response, ending.reply);
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'hang': return later(response, HANG_MS, () => response.socket?.destroy());
    default: ending satisfies never;
  }
}

/** Status and headers speak of the whole body; half of it is sent, and then the connection is closed in an orderly way. */
function sendHalf(response: ServerResponse, whole: Reply): void {
  response.writeHead(whole.status, { ...whole.headers, 'content-length': whole.body.length, connection: 'close' });
  response.write(whole.body.subarray(0, Math.floor(whole.body.length / 2)), () => response.socket?.end());
}

function later(response: ServerResponse, ms: number, act: () => void): void {
  const timer = setTimeout(act, ms);
  // A caller that gave up needs no answer, and the program must not stay alive for one.
  response.once('close', () => clearTimeout(timer));
  timer.unref();
}
