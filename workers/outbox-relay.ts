import type { Infra } from '../infra/context.ts';
import { PRIORITY } from '../infra/contract/queues.ts';
import { OutboxEntity, type OutboxRow } from '../infra/db/entities/outbox.entity.ts';
import { BULK_START_GAP_MS } from '../infra/db/repositories/bulk-starts.ts';
import { inScope, SYSTEM } from '../infra/db/tenant.ts';
import { tellTemporal } from '../infra/temporal/tell.ts';
import type { Log } from '../infra/log/log.ts';
import { BackgroundLoop } from './background-loop.ts';

const BATCH = 100;
const AT_ONCE = 10;
const AWAY_MS = 1_000;

/**
 * Tells Temporal what the outbox holds. Rows are leased in a short transaction and no lock is held while Temporal is
 * called. Dying in between leaves leased rows, which are told again when the lease ends; telling twice is harmless.
 */
export class OutboxRelay {
  readonly #infra: Infra;
  readonly #log: Log;
  readonly #loop: BackgroundLoop;

  constructor(infra: Infra) {
    this.#infra = infra;
    this.#log = infra.log.child({ subsystem: 'outbox-relay' });
    this.#loop = new BackgroundLoop({ log: this.#log, turn: () => this.#turn(), afterFailureMs: AWAY_MS });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** One batch; returns how long to pause. */
  async #turn(): Promise<number> {
    const { clock, config: { timing } } = this.#infra;
    const now = clock.now();
    const leasedUntil = new Date(now.getTime() + timing.outboxLeaseMs);
    const { rows, nextAt } = await this.#lease(now, leasedUntil);
    const told: string[] = [];
    const queue = [...rows];
    const carrier = async () => {
      for (let row = queue.shift(); row !== undefined && !this.#loop.isStopping; row = queue.shift()) if (await this.#tell(row)) told.push(row.id);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, carrier));
    if (told.length > 0) await this.#forget(told, leasedUntil);
    if (told.length === 0 && rows.length > 0) return AWAY_MS;
    const until = (at: number) => Math.max(0, at - clock.now().getTime());
    // The next of a bulk may be due already, and each organization has one start per turn.
    if (rows.some((row) => row.priority === PRIORITY.bulk)) return until(now.getTime() + BULK_START_GAP_MS);
    return rows.length === BATCH ? 0 : Math.min(timing.outboxPollMs, until(nextAt));
  }

  async #tell(row: OutboxRow): Promise<boolean> {
    try {
      await tellTemporal(this.#infra.temporal, row, { now: this.#infra.clock.now() });
      return true;
    } catch (error) {
      this.#log.warn({ err: error, workflow_id: row.workflowId, intent: row.intent, attempts: row.attempts }, 'Temporal could not be told; it will be told again');
      return false;
    }
  }

  /** A row that was written anew meanwhile has another time, and is told again. */
  async #forget(ids: string[], leasedUntil: Date): Promise<void> {
    await inScope(this.#infra.db, SYSTEM, (tx) => tx.nativeDelete(OutboxEntity, { id: { $in: ids }, availableAt: leasedUntil }));
  }

  /**
   * Rows that are due, the first of every organization before the second of any, and of each one's bulks only the first; and
   * when the next one will be. The time is asked outside too: a row that another relay leased meanwhile is left to it.
   */
  async #lease(now: Date, leasedUntil: Date): Promise<{ rows: OutboxRow[]; nextAt: number }> {
    return inScope(this.#infra.db, SYSTEM, async (tx) => {
      const found = await tx.execute<{ id: string }[]>(
        `select id from outbox where available_at <= ? and id in (
           select id from (select id, priority, available_at, row_number() over (partition by priority, organization_id, mode order by available_at) as turn from outbox where available_at <= ?) as due
            where priority <> ${PRIORITY.bulk} or turn = 1 order by priority, turn, available_at limit ?)
         for update skip locked`, [now, now, BATCH]);
      const [next] = await tx.execute<{ at: string | null }[]>('select min(available_at) as at from outbox where available_at > ?', [now]);
      const nextAt = next?.at ? new Date(next.at).getTime() : Infinity;
      if (found.length === 0) return { rows: [], nextAt };
      const ids = found.map((row) => row.id);
      const rows = await tx.find(OutboxEntity, { id: { $in: ids } });
      await tx.execute(`update outbox set available_at = ?, attempts = attempts + 1 where id in (${ids.map(() => '?').join(', ')})`, [leasedUntil, ...ids]);
      return { rows, nextAt };
    });
  }
}
