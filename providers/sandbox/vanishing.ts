import { newId } from '../../infra/contract/ids.ts';
import type { Log } from './log.ts';
import type { Ledger } from './ledger.ts';
import { sha256 } from './ids.ts';
import type { Pool } from './store/pg.ts';

interface Due {
  platform: string;
  objectId: string;
  organizationId: string;
  accountId: string;
  url: string | null;
  operationId: string | null;
}

const DUE = `select o.platform, o.object_id as "objectId", o.organization_id as "organizationId", o.account_id as "accountId", o.url,
    (select l.operation_id from sandbox.ledger l where l.organization_id = o.organization_id and l.account_id = o.account_id
      and l.object_id = o.object_id and l.kind not in ('request', 'remove') limit 1) as "operationId"
  from sandbox.object o where o.vanish_at <= now() and o.state = 'public' limit 100`;

/** Carries out `vanish`. Readers see the object gone at its time in any case; this writes the removal into the ledger. */
export class Vanishing {
  readonly #pool: Pool;
  readonly #ledger: Ledger;
  readonly #log: Log;
  #timer: NodeJS.Timeout | null = null;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(pool: Pool, ledger: Ledger, log: Log) {
    this.#pool = pool;
    this.#ledger = ledger;
    this.#log = log;
  }

  /** Picks up what an earlier run has left. */
  async start(): Promise<void> {
    const { rows } = await this.#pool.query<{ at: Date | null }>({ text: `select min(vanish_at) as at from sandbox.object where vanish_at is not null and state = 'public'` });
    if (rows[0]?.at) this.expect(rows[0].at);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  expect(at: Date): void {
    if (at.getTime() >= this.#dueMs) return;
    this.stop();
    this.#dueMs = at.getTime();
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, this.#dueMs - Date.now()) + 20);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    this.#dueMs = Number.POSITIVE_INFINITY;
    try {
      const { rows } = await this.#pool.query<Due>({ text: DUE });
      for (const due of rows) await this.#remove(due);
      await this.start();
    } catch (error) {
      this.#log.failed('vanish_failed', error);
      this.expect(new Date(Date.now() + 1_000));
    }
  }

  async #remove(due: Due): Promise<void> {
    await this.#ledger.write({
      organization_id: due.organizationId, account_id: due.accountId, platform: due.platform, kind: 'remove', object_id: due.objectId,
      platform_post_id: due.objectId, url: due.url, operation_id: due.operationId, step: null, attempt: null, answered: 'success', word: 'vanish',
      remove: due.objectId, media: [],
      // Nobody asked for it, so the request names the sandbox itself.
      request: { id: newId('request'), method: 'DELETE', path: `/${due.platform}/vanish`, body_sha256: sha256(''), bytes: 0 },
    });
  }
}
