import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second, as Linux tells them to programs; the same on every architecture that Node runs on. */
const TICKS = 100;
const PAGE_BYTES = 4096;

interface Stat {
  pid: number;
  parent: number;
  cpuSeconds: number;
  rssBytes: number;
}

/** CPU seconds and memory of our processes, by name. Empty where there is no /proc. */
export class Processes {
  readonly #roots: ReadonlyMap<string, number>;

  constructor(roots: Record<string, number | null>) {
    this.#roots = new Map(Object.entries(roots).flatMap(([name, pid]) => (pid === null ? [] : [[name, pid] as const])));
  }

  /** With children, because PostgreSQL is many processes; but without those that are counted under a name of their own. */
  cpu(): Record<string, number> {
    const all = stats();
    const named = new Set(this.#roots.values());
    return Object.fromEntries([...this.#roots].map(([name, pid]) => [name, family(all, pid, named).reduce((sum, one) => sum + one.cpuSeconds, 0)]));
  }

  rssMiB(name: string): number {
    return (stats().find((one) => one.pid === this.#roots.get(name))?.rssBytes ?? Number.NaN) / 2 ** 20;
  }
}

/** The difference of two readings, per unit of work, in milliseconds. */
export function cpuMsPer(units: number, before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(after).map(([name, seconds]) => [name, ((seconds - (before[name] ?? 0)) * 1000) / units]));
}

function family(all: readonly Stat[], root: number, others: ReadonlySet<number>): Stat[] {
  const members = new Set([root]);
  for (let size = 0; size !== members.size; ) {
    size = members.size;
    for (const one of all) if (members.has(one.parent) && !others.has(one.pid)) members.add(one.pid);
  }
  return all.filter((one) => members.has(one.pid));
}

function stats(): Stat[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // Counted from behind the name, which may hold anything.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const at = (field: number) => Number(fields[field - 3]);
      return [{ pid: Number(pid), parent: at(4), cpuSeconds: (at(14) + at(15) + at(16) + at(17)) / TICKS, rssBytes: at(24) * PAGE_BYTES }];
    } catch {
      return [];
    }
  });
}
