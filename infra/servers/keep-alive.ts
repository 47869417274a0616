import type { Service } from './service.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** Who has run this long was well: its next death starts the pauses anew. */
const WELL_AFTER_MS = 60_000;

/** Starts the service again whenever it dies unasked, after pauses that grow while it keeps dying. Ends with the signal. */
export function keepAlive(service: Service, ended: AbortSignal, say: (line: string) => void): void {
  let pauseMs = FIRST_PAUSE_MS;
  let startedAt = Date.now();
  const revive = async () => {
    while (!ended.aborted) {
      await pause(pauseMs, ended);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      try {
        if (ended.aborted) return;
        startedAt = Date.now();
        await service.start();
        say(`${service.name} runs again.`);
        return;
      } catch (error) {
        if (!ended.aborted) say(`${service.name} does not start: ${(error as Error).message}`);
      }
    }
  };
  service.onDeath = (how) => {
    if (ended.aborted) return;
    if (Date.now() - startedAt > WELL_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
    say(`${service.name} ended unexpectedly (${how}); starting it again. Its log: ${service.spec.logFile}`);
    void revive();
  };
}

function pause(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    ended.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
