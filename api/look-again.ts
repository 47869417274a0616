import { setTimeout as pause } from 'node:timers/promises';

const AT_FIRST_MS = 100;
const AT_LAST_MS = 1_000;

/**
 * Looks until there is something to say, or for the last time at the end. Often at first, for most of what is waited for
 * comes at once; then ever less often, so that many who wait for long cost little. `end` is told as `performance.now()` tells time.
 */
export async function lookAgain<T>(end: number, look: (isLast: boolean) => Promise<T | null>): Promise<T | null> {
  const startedAt = performance.now();
  for (;;) {
    const now = performance.now();
    const isLast = now >= end;
    const seen = await look(isLast);
    if (seen !== null || isLast) return seen;
    await pause(Math.max(1, Math.min(AT_LAST_MS, Math.max(AT_FIRST_MS, (now - startedAt) / 5), end - performance.now())));
  }
}
