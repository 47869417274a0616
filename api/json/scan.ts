import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../infra/contract/errors.ts';
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../../infra/contract/limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const LITERALS: Record<number, Buffer> = { 0x74: Buffer.from('true'), 0x66: Buffer.from('false'), 0x6e: Buffer.from('null') };
const SIMPLE_ESCAPES = new Set(Buffer.from('"\\/bfnrt'));

/**
 * Reads the raw bytes once, before any tree is built: JSON.parse alone would take two million levels, keep the last of two
 * members with one name, and block for a second on a body within the byte limit.
 */
export function decodeJson(bytes: Buffer): unknown {
  const begin = bytes.subarray(0, 3).equals(BOM) ? 3 : 0;
  if (!isUtf8(bytes)) throw new ApiError('MALFORMED_JSON', 'The body is not valid UTF-8.');
  new Scanner(bytes, begin).document();
  return JSON.parse(bytes.toString('utf8', begin));
}

class Scanner {
  readonly #bytes: Buffer;
  #at: number;
  #values = 0;

  constructor(bytes: Buffer, begin: number) {
    this.#bytes = bytes;
    this.#at = begin;
  }

  document(): void {
    this.#blanks();
    this.#value(1);
    this.#blanks();
    if (this.#at < this.#bytes.length) this.#fail();
  }

  #value(depth: number): void {
    if (++this.#values > JSON_VALUES_MAX) throw limit('values', `The body has more than ${JSON_VALUES_MAX} values.`);
    const byte = this.#bytes[this.#at];
    if (byte === QUOTE) this.#string();
    else if (byte === OPEN_BRACE) this.#object(depth);
    else if (byte === OPEN_BRACKET) this.#array(depth);
    else if (byte === MINUS || isDigit(byte)) this.#number();
    else this.#literal(byte);
  }

  #object(depth: number): void {
    this.#enter(depth);
    if (this.#bytes[this.#at] === CLOSE_BRACE) {
      this.#at += 1;
      return;
    }
    const names = new Set<string>();
    for (;;) {
      if (this.#bytes[this.#at] !== QUOTE) this.#fail();
      const name = this.#name();
      if (names.has(name)) throw limit('duplicate_key', 'One object of the body has the same member name twice.');
      names.add(name);
      this.#blanks();
      if (this.#bytes[this.#at] !== COLON) this.#fail();
      this.#at += 1;
      this.#blanks();
      this.#value(depth + 1);
      if (this.#isEnd(CLOSE_BRACE)) return;
    }
  }

  #array(depth: number): void {
    this.#enter(depth);
    if (this.#bytes[this.#at] === CLOSE_BRACKET) {
      this.#at += 1;
      return;
    }
    do this.#value(depth + 1);
    while (!this.#isEnd(CLOSE_BRACKET));
  }

  #enter(depth: number): void {
    if (depth > JSON_DEPTH_MAX) throw limit('depth', `The body is nested deeper than ${JSON_DEPTH_MAX} levels.`);
    this.#at += 1;
    this.#blanks();
  }

  /** After a value: either the container's end, or a comma and the begin of the next value. */
  #isEnd(close: number): boolean {
    this.#blanks();
    const byte = this.#bytes[this.#at];
    if (byte !== close && byte !== COMMA) this.#fail();
    this.#at += 1;
    if (byte === COMMA) this.#blanks();
    return byte === close;
  }

  /** The member name after unescaping, so that `a` and `\u0061` are found to be one. */
  #name(): string {
    const begin = this.#at;
    const hasEscapes = this.#string();
    const text = this.#bytes.toString('utf8', begin, this.#at);
    return hasEscapes ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  #string(): boolean {
    const bytes = this.#bytes;
    const { length } = bytes;
    let hasEscapes = false;
    let at = this.#at + 1;
    for (; at < length; at += 1) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return hasEscapes;
      }
      if (byte < 0x20) break;
      if (byte === BACKSLASH) {
        hasEscapes = true;
        this.#at = at + 1;
        at += this.#escapeLength();
      }
    }
    this.#at = at;
    return this.#fail();
  }

  #escapeLength(): number {
    const byte = this.#bytes[this.#at];
    if (byte !== undefined && SIMPLE_ESCAPES.has(byte)) return 1;
    if (byte !== 0x75) this.#fail();
    for (let digit = 1; digit <= 4; digit += 1) {
      if (!isHexDigit(this.#bytes[this.#at + digit])) {
        this.#at += digit;
        this.#fail();
      }
    }
    return 5;
  }

  #number(): void {
    if (this.#bytes[this.#at] === MINUS) this.#at += 1;
    if (this.#bytes[this.#at] === 0x30) this.#at += 1;
    else this.#digits();
    if (this.#bytes[this.#at] === 0x2e) {
      this.#at += 1;
      this.#digits();
    }
    if (this.#bytes[this.#at] === 0x65 || this.#bytes[this.#at] === 0x45) {
      this.#at += 1;
      if (this.#bytes[this.#at] === 0x2b || this.#bytes[this.#at] === MINUS) this.#at += 1;
      this.#digits();
    }
  }

  #digits(): void {
    if (!isDigit(this.#bytes[this.#at])) this.#fail();
    while (isDigit(this.#bytes[this.#at])) this.#at += 1;
  }

  #literal(first: number | undefined): void {
    const literal = first === undefined ? undefined : LITERALS[first];
    if (literal === undefined) return this.#fail();
    for (const byte of literal) {
      if (this.#bytes[this.#at] !== byte) this.#fail();
      this.#at += 1;
    }
    return undefined;
  }

  #blanks(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at += 1;
    }
  }

  #fail(): never {
    const where = this.#at >= this.#bytes.length ? 'it ends too early' : `see byte ${this.#at}`;
    throw new ApiError('MALFORMED_JSON', `The body is not valid JSON: ${where}.`, { details: { offset: Math.min(this.#at, this.#bytes.length) } });
  }
}

function limit(name: string, message: string): ApiError {
  return new ApiError('MALFORMED_JSON', message, { details: { limit: name } });
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function isHexDigit(byte: number | undefined): boolean {
  return isDigit(byte) || (byte !== undefined && ((byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)));
}
