import type { Log } from './log.ts';
import type { Pool } from './store/pg.ts';

const EVERY_MS = 3_600_000;
const LISTED_MAX = 10_000;

/** What is thrown away by time, and what leaves the lists by number. Each statement stands alone and may be repeated. */
const STATEMENTS: readonly string[] = [
  `delete from sandbox.segment s using sandbox.media m where m.platform = s.platform and m.media_id = s.media_id and m.created_at < now() - interval '2 days'`,
  `delete from sandbox.media where created_at < now() - interval '30 days'`,
  `delete from sandbox.object where created_at < now() - interval '30 days'`,
  `delete from sandbox.idempotency_key where expires_at < now()`,
  `delete from sandbox.used_word where used_at < now() - interval '30 days'`,
  `delete from sandbox.operation_words where at < now() - interval '30 days'`,
  `delete from sandbox.ledger where at < now() - interval '90 days'`,
  `update sandbox.object o set listed = false from (
     select platform, object_id, row_number() over (partition by account_id order by seq desc) as n from sandbox.object where listed
   ) ranked where ranked.n > ${LISTED_MAX} and ranked.platform = o.platform and ranked.object_id = o.object_id`,
];

/** Runs now and then; returns what stops it. */
export function keepHouse(pool: Pool, log: Log): () => void {
  const run = async (): Promise<void> => {
    try {
      for (const text of STATEMENTS) await pool.query({ text });
    } catch (error) {
      log.failed('housekeeping_failed', error);
    }
  };
  const timer = setInterval(() => void run(), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
