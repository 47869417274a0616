import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';

const TWITTER_EPOCH_MS = 1_288_834_974_657n;

/** Ids in the order of time, as a platform makes them: milliseconds in the high bits, the low bits random and then counted up. */
class Snowflakes {
  readonly #shift: bigint;
  readonly #epochMs: bigint;
  #last = 0n;

  constructor(shift: number, epochMs: bigint) {
    this.#shift = BigInt(shift);
    this.#epochMs = epochMs;
  }

  next(nowMs: number): string {
    const fresh = ((BigInt(nowMs) - this.#epochMs) << this.#shift) | BigInt(randomInt(2 ** Number(this.#shift)));
    // The random start leaves room for two processes; the counter keeps one process in order within a millisecond.
    this.#last = fresh > this.#last ? fresh : this.#last + 1n;
    return this.#last.toString();
  }
}

export const twitterIds = new Snowflakes(22, TWITTER_EPOCH_MS);
export const mastodonIds = new Snowflakes(16, 0n);

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The id of an object's public page: nobody can guess it, and whoever holds the sandbox's secret can compute it from the object. */
export function pageIdOf(secret: string, platform: string, objectId: string): string {
  return createHmac('sha256', secret).update(`page:${platform}:${objectId}`).digest('hex').slice(0, 32);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function randomText(length: number): string {
  return Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** A short code that is always the same for the same thing. */
export function codeOf(text: string, length: number): string {
  return Array.from(createHash('sha256').update(text).digest().subarray(0, length), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
