import { setTimeout as pause } from 'node:timers/promises';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import type { System } from '../support/system.ts';

interface Counters {
  /** Transaction ids given out: one per transaction that wrote. */
  writes: number;
  /** All commits, those of pure reads too. */
  commits: number;
  at: number;
}

/** A connection that fell idle tells its numbers after ten seconds. */
const STATISTICS_LAG_MS = 10_500;

/** Counts the transactions of the product's own cluster; Temporal and the sandbox keep theirs elsewhere. */
export class Commits {
  readonly #system: System;
  #idle = { writes: 0, commits: 0 };

  constructor(system: System) {
    this.#system = system;
  }

  /** What the cluster does by itself and for the pollers, per millisecond. */
  async measureIdle(forMs: number): Promise<void> {
    await pause(STATISTICS_LAG_MS);
    const before = await this.#read();
    await pause(forMs);
    const after = await this.#read();
    const ms = after.at - before.at;
    this.#idle = { writes: (after.writes - before.writes) / ms, commits: (after.commits - before.commits) / ms };
  }

  async per(units: number, work: () => Promise<unknown>): Promise<{ writes: number; commits: number }> {
    const before = await this.#read();
    await work();
    await pause(STATISTICS_LAG_MS);
    const after = await this.#read();
    const ms = after.at - before.at;
    return { writes: (after.writes - before.writes - this.#idle.writes * ms) / units, commits: (after.commits - before.commits - this.#idle.commits * ms) / units };
  }

  async #read(): Promise<Counters> {
    const [row] = await inScope(this.#system.db, SYSTEM, (tx) => tx.execute<{ writes: string; commits: string }[]>(
      `select pg_snapshot_xmax(pg_current_snapshot())::text as writes, (select xact_commit from pg_stat_database where datname = current_database())::text as commits`));
    return { writes: Number(row!.writes), commits: Number(row!.commits), at: performance.now() };
  }
}
