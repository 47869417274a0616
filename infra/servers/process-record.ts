import { existsSync, readFileSync, rmSync } from 'node:fs';
import { endProcess, isAlive, refOf, type ProcessRef } from './process-identity.ts';
import { writePrivateFile } from './private-file.ts';
import type { Service } from './service.ts';

interface Entry extends ProcessRef {
  stopSignal: NodeJS.Signals;
}

/** How long what a killed launcher left behind may take to stop. Its database is gone, so that there is nothing to finish. */
const LEFTOVER_GRACE_MS = 5_000;

/** The processes that a launcher started, on disk, so that the next one finds those that outlived a SIGKILL of the first. */
export class ProcessRecord {
  readonly #file: string;
  readonly #entries = new Map<string, Entry>();

  constructor(file: string) {
    this.#file = file;
  }

  follow(service: Service): void {
    service.onSpawn = (pid) => {
      const ref = refOf(pid);
      if (ref === null) return;
      this.#entries.set(service.name, { ...ref, stopSignal: service.spec.stopSignal });
      writePrivateFile(this.#file, JSON.stringify(Object.fromEntries(this.#entries), null, 2));
    };
  }

  /** Ends what an earlier launcher left running, and returns the names. Only processes that are still the recorded ones are touched. */
  async endLeftovers(): Promise<string[]> {
    const alive = Object.entries(this.#read()).filter(([, entry]) => isAlive(entry));
    await Promise.all(alive.map(([, entry]) => endProcess(entry, entry.stopSignal, LEFTOVER_GRACE_MS)));
    this.clear();
    return alive.map(([name]) => name);
  }

  clear(): void {
    this.#entries.clear();
    rmSync(this.#file, { force: true });
  }

  #read(): Record<string, Entry> {
    return existsSync(this.#file) ? (JSON.parse(readFileSync(this.#file, 'utf8')) as Record<string, Entry>) : {};
  }
}
