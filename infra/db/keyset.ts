import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RingKey } from '../config/secrets.ts';
import { ApiError } from '../contract/errors.ts';
import { CURSOR_MAX_CHARS } from '../contract/limits.ts';

/** A place in a list ordered by (time, id). Survives the deletion of the row it names. */
export interface Position {
  at: Date;
  id: string;
  /** Lists of rows that move keep the first page's time as their ceiling. */
  ceiling?: Date;
  /** Lists by name have it in place of the time. */
  name?: string;
}

export interface Page<T> {
  rows: T[];
  next: Position | null;
}

const TAG_BYTES = 16;
const VERSION = 1;

/** Cursors are opaque and bound to what they page through: organization, mode, route and filters. */
export class CursorCodec {
  readonly #ring: readonly RingKey[];

  constructor(ring: readonly RingKey[]) {
    this.#ring = ring;
  }

  encode(position: Position, binding: string): string {
    const { at, id, ceiling, name } = position;
    const more = [...(ceiling === undefined && name === undefined ? [] : [ceiling?.getTime() ?? null]), ...(name === undefined ? [] : [name])];
    const body = Buffer.from(JSON.stringify([VERSION, at.getTime(), id, ...more]));
    return Buffer.concat([this.#tag(this.#ring[0]!, body, binding), body]).toString('base64url');
  }

  decode(cursor: string, binding: string): Position {
    const bytes = cursor.length <= CURSOR_MAX_CHARS && /^[A-Za-z0-9_-]+$/.test(cursor) ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0);
    const tag = bytes.subarray(0, TAG_BYTES);
    const body = bytes.subarray(TAG_BYTES);
    // A base64url text with stray trailing bits decodes to the same bytes; only the canonical one is ours.
    const genuine = bytes.length > TAG_BYTES && bytes.toString('base64url') === cursor && this.#ring.some((key) => timingSafeEqual(this.#tag(key, body, binding), tag));
    if (!genuine) throw new ApiError('INVALID_CURSOR', 'This cursor does not belong to this list. Start again without a cursor and keep the filters unchanged between pages.');
    const [version, at, id, ceiling = null, name] = JSON.parse(body.toString()) as [number, number, string, (number | null)?, string?];
    if (version !== VERSION) throw new ApiError('INVALID_CURSOR', 'This cursor is of a retired form. Start again without a cursor.');
    return { at: new Date(at), id, ...(ceiling === null ? {} : { ceiling: new Date(ceiling) }), ...(name === undefined ? {} : { name }) };
  }

  #tag(key: RingKey, body: Buffer, binding: string): Buffer {
    return createHmac('sha256', key.key).update(String(binding.length)).update(binding).update(body).digest().subarray(0, TAG_BYTES);
  }
}

/** Cuts `limit + 1` rows to a page and finds where the next one begins. */
export function pageOf<T>(rows: T[], limit: number, position: (row: T) => Position): Page<T> {
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? position(shown.at(-1)!) : null };
}
