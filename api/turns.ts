import { ApiError } from '../infra/contract/errors.ts';

interface Waiting {
  organizationId: string;
  start: () => void;
}

/**
 * Who may hold a long transaction: few at once, so that connections are left for everybody else, and one of an organization,
 * so that nobody's files keep another's waiting. The others wait in the order in which they came, before anything was done.
 */
export class Turns {
  readonly #atOnce: number;
  readonly #patienceMs: number;
  readonly #running = new Set<string>();
  readonly #waiting: Waiting[] = [];

  constructor(options: { atOnce: number; patienceMs: number }) {
    this.#atOnce = options.atOnce;
    this.#patienceMs = options.patienceMs;
  }

  async run<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    await this.#turnOf(organizationId);
    try {
      return await work();
    } finally {
      this.#running.delete(organizationId);
      this.#next();
    }
  }

  #turnOf(organizationId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { organizationId, start: () => {
        clearTimeout(timer);
        resolve();
      } };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(tooMany(this.#patienceMs));
      }, this.#patienceMs);
      this.#waiting.push(waiting);
      this.#next();
    });
  }

  #next(): void {
    while (this.#running.size < this.#atOnce) {
      const at = this.#waiting.findIndex(({ organizationId }) => !this.#running.has(organizationId));
      if (at === -1) return;
      const [{ organizationId, start }] = this.#waiting.splice(at, 1) as [Waiting];
      this.#running.add(organizationId);
      start();
    }
  }
}

function tooMany(waitedMs: number): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', 'Too many large requests are being carried out; nothing was done of this one. Send the same request again after Retry-After, one at a time.', {
    headers: { 'Retry-After': String(Math.ceil(waitedMs / 1000)) },
  });
}
