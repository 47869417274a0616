import { createHash } from 'node:crypto';
import type { Word } from '../words.ts';
import type { Pool } from './pg.ts';

/** Which words have acted already, and what was learned about an operation before its media were uploaded again. */
export class UsedWords {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** True for the first request of this step for this object, false ever after. Of two simultaneous ones one is the first. */
  async claim(use: { accountId: string; subject: string; step: string; word: string }): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      text: 'insert into sandbox.used_word (account_id, subject, step, word) values ($1, $2, $3, $4) on conflict do nothing',
      values: [use.accountId, createHash('sha256').update(use.subject).digest(), use.step, use.word],
    });
    return rowCount === 1;
  }

  /**
   * Keeps the words of a text for private steps that the same operation repeats: these carry no text of their own. Words that speak
   * of the publishing step alone are not worth a row.
   */
  async remember(accountId: string, operationId: string | null, words: readonly Word[]): Promise<void> {
    if (operationId === null || !words.some((word) => word.step !== null || word.group === 'processing')) return;
    await this.#pool.query({
      text: `insert into sandbox.operation_words (account_id, operation_id, words) values ($1, $2, $3)
        on conflict (account_id, operation_id) do update set words = excluded.words`,
      values: [accountId, operationId, words.map((word) => `[[sandbox:${word.written}]]`).join(' ')],
    });
  }

  async recall(accountId: string, operationId: string | null): Promise<string | null> {
    if (operationId === null) return null;
    const { rows } = await this.#pool.query<{ words: string }>({
      text: 'select words from sandbox.operation_words where account_id = $1 and operation_id = $2', values: [accountId, operationId],
    });
    return rows[0]?.words ?? null;
  }
}
