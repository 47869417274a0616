import { newId } from '../../infra/contract/ids.ts';
import type { Pool } from './store/pg.ts';

export type EntryKind = 'publish' | 'comment' | 'repost' | 'quote' | 'edit' | 'remove' | 'action' | 'moderation' | 'message' | 'broadcast'
  | 'administration' | 'report' | 'request' | 'foreign';
/** What the caller was given. Known before the entry is written, because the entry is written before anything is given. */
export type Answered = 'success' | 'refused' | 'rate_limited' | 'error' | 'dropped' | 'hung' | 'truncated' | 'garbled' | 'huge' | 'no_proof' | 'late' | 'redirected';

export interface LedgerMedia {
  kind: string;
  mime_type: string;
  bytes: number;
  sha256: string | null;
  alt_text: string | null;
}

export interface NewObject {
  object_id: string;
  kind: EntryKind;
  page_id: string;
  url: string;
  text: string | null;
  parent_id: string | null;
  media: LedgerMedia[];
  detail: Record<string, unknown>;
  state: 'public' | 'absent';
  hidden: boolean;
  seq: string;
  created_at: string;
  visible_at: string;
  vanish_at: string | null;
}

export interface NewEntry {
  organization_id: string;
  account_id: string;
  platform: string;
  kind: EntryKind;
  object_id?: string | null;
  platform_post_id?: string | null;
  parent_id?: string | null;
  url?: string | null;
  text?: string | null;
  media?: LedgerMedia[];
  recipient?: string | null;
  operation_id: string | null;
  step: string | null;
  attempt: number | null;
  /** As sent. Whether it is honoured is `unique_key`. */
  key?: string | null;
  unique_key?: string;
  unique_for?: number;
  answered: Answered;
  word: string | null;
  request: { id: string; method: string; path: string; body_sha256: string; bytes: number };
  object?: NewObject;
  /** Ids of uploaded media that become part of the object, all or none. */
  attach?: string[];
  /** The object that stops being public. */
  remove?: string;
}

export type Written =
  | { outcome: 'done' }
  /** The key is known: nothing was done, and this is the first object under it. */
  | { outcome: 'repeated'; objectId: string }
  | { outcome: 'media_taken' | 'missing' };

interface Waiting {
  entry: NewEntry & { id: string };
  resolve: (written: Written) => void;
  reject: (error: unknown) => void;
}

const BATCH_MAX = 200;

/**
 * The witness. An entry is committed before the sandbox answers, and before it drops a connection.
 *
 * Entries that arrive while a commit is under way are written together in the next one: ordinals are given out under a lock of the
 * organization, so single commits would queue up behind each other at the speed of the disk.
 */
export class Ledger {
  readonly #pool: Pool;
  #waiting: Waiting[] = [];
  #writing = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  write(entry: NewEntry): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry: { id: newId('sandboxEntry'), ...entry }, resolve, reject });
      if (!this.#writing) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX);
      try {
        await this.#commit(batch);
      } catch (error) {
        // One entry that the database refuses must not take the others with it. After any other failure it is not known what was
        // committed, and the ids of the entries would not let them in twice: nobody is answered as if nothing had happened.
        if (batch.length > 1 && isRefusedValue(error)) await Promise.all(batch.map((item) => this.#commit([item]).catch(item.reject)));
        else for (const item of batch) item.reject(error);
      }
    }
    this.#writing = false;
  }

  async #commit(batch: Waiting[]): Promise<void> {
    const { rows } = await this.#pool.query<{ results: { n: number; outcome: string; known: string | null }[] }>({
      name: 'ledger-write',
      text: 'select sandbox.write($1::jsonb) as results',
      values: [asJson(batch.map((item) => item.entry))],
    });
    for (const result of rows[0]!.results) settle(batch[result.n]!, result);
  }
}

function settle(item: Waiting, result: { outcome: string; known: string | null }): void {
  switch (result.outcome) {
    case 'done': return item.resolve({ outcome: 'done' });
    case 'repeated': return item.resolve({ outcome: 'repeated', objectId: result.known! });
    case 'media_taken': return item.resolve({ outcome: 'media_taken' });
    case 'missing': return item.resolve({ outcome: 'missing' });
    default: return item.reject(new Error(`ledger: ${result.outcome}`));
  }
}

/** PostgreSQL takes neither NUL nor half of a surrogate pair, and a caller may send both. */
function asJson(entries: NewEntry[]): string {
  const plain = JSON.stringify(entries);
  if (!/\\u(?:0000|d[89a-f])/.test(plain)) return plain;
  return JSON.stringify(entries, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value));
}

/** SQLSTATE classes of data exceptions and violated constraints. */
function isRefusedValue(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^2[23]/.test(code);
}
