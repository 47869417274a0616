import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Tries again what must not be lost to a passing fault of the database: an answer in hand is worth more than a prompt
 * return. Only for work that is safe to repeat. Dying in it leaves the claim, whose deadline then decides.
 */
export async function persistently<T>(withinMs: number, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() + pauseMs > end) throw error;
      await pause(pauseMs);
    }
  }
}
