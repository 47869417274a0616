import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Process } from '../support/process.ts';
import { until } from '../support/until.ts';

const SETTLED_MS = 1_000;

/** What processes really hold: a heap snapshot collects the garbage first, so its size says what RSS cannot. */
export class LiveHeap {
  readonly #folder = mkdtempSync(join(tmpdir(), 'oncepost-heap-'));

  get nodeOptions(): string {
    return `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${this.#folder}`;
  }

  /** Size of the process's snapshot. The process stands still for a moment. */
  async mib(process: Process): Promise<number> {
    process.signal('SIGUSR2');
    const bytes = await until('the heap snapshot is written', async () => {
      const before = this.#bytes();
      await pause(SETTLED_MS);
      return before > 0 && this.#bytes() === before ? before : null;
    });
    for (const file of readdirSync(this.#folder)) rmSync(join(this.#folder, file));
    return bytes / 2 ** 20;
  }

  #bytes(): number {
    return readdirSync(this.#folder).reduce((sum, file) => sum + statSync(join(this.#folder, file)).size, 0);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
