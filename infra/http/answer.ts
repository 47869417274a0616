import { PROVIDER_ANSWER_MAX_BYTES } from '../contract/limits.ts';
import type { Reader } from './exchange.ts';
import { Stopped } from './failure.ts';
import type { Answer, PartialAnswer } from './types.ts';

const EXCERPT_BYTES = 4_096;

/** Keeps a whole answer in memory, up to a number of bytes. */
export class AnswerReader implements Reader {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status: number | null = null;
  #headers: Record<string, string> = {};

  constructor(maxBytes: number = PROVIDER_ANSWER_MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  start(status: number, headers: Record<string, string>): void {
    this.#status = status;
    this.#headers = headers;
    refuseEncodings(headers);
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes > this.#maxBytes) throw new Stopped('too_large');
  }

  partial(): PartialAnswer | null {
    if (this.#status === null) return null;
    return { status: this.#status, contentType: this.#contentType, excerpt: Buffer.concat(this.#chunks).subarray(0, EXCERPT_BYTES) };
  }

  answer(): Answer {
    const body = Buffer.concat(this.#chunks);
    return { status: this.#status ?? 0, headers: this.#headers, contentType: this.#contentType, body, json: jsonOf(this.#contentType, body) };
  }

  get #contentType(): string | null {
    return this.#headers['content-type'] ?? null;
  }
}

/** We asked for identity. Anything else is not unpacked: a small packed answer may be a very large one. */
export function refuseEncodings(headers: Record<string, string>): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') throw new Stopped('malformed');
}

function jsonOf(contentType: string | null, body: Buffer): unknown {
  if (contentType === null || !/^[\w.-]+\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType.trim())) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
