import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a condition of the outside world, asked again and again; fails with its name when it never comes. */
export async function until<T>(what: string, ask: () => Promise<T | null | undefined | false>, withinMs = 60_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`it never came true within ${withinMs} ms: ${what}`);
    await pause(25);
  }
}
