import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../infra/log/log.ts';

/** Work that turns beside the workers until it is stopped. A turn that fails is told and the next one goes on. */
export class BackgroundLoop {
  readonly #log: Log;
  /** One turn; returns how long to pause in milliseconds. */
  readonly #turn: () => Promise<number>;
  readonly #afterFailureMs: number;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: { log: Log; turn: () => Promise<number>; afterFailureMs: number }) {
    this.#log = options.log;
    this.#turn = options.turn;
    this.#afterFailureMs = options.afterFailureMs;
  }

  get isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  start(): void {
    this.#running = this.#loop();
  }

  /** Resolves when the turn under way has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const pauseMs = await this.#turn().catch((error: unknown) => {
        this.#log.warn({ err: error }, 'a turn did not end; the next one goes on');
        return this.#afterFailureMs;
      });
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}
