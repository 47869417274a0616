/** A rate limit as the platform states it. */
export interface Bucket {
  name: string;
  limit: number;
  windowSeconds: number;
}

export interface Allowance {
  limit: number;
  remaining: number;
  resetAt: Date;
}

/**
 * Real counters over the platforms' windows. They are shown and never refuse by themselves, so `remaining` stops at 1: a load test
 * measures the service, and only words and behaviours exhaust a limit.
 */
export class Limits {
  readonly #windows = new Map<string, { startedMs: number; used: number }>();

  take(accountId: string, bucket: Bucket): Allowance {
    const nowMs = Date.now();
    const windowMs = bucket.windowSeconds * 1_000;
    const key = `${accountId} ${bucket.name}`;
    let window = this.#windows.get(key);
    if (window === undefined || nowMs - window.startedMs >= windowMs) {
      window = { startedMs: nowMs, used: 0 };
      this.#windows.set(key, window);
    }
    window.used += 1;
    return { limit: bucket.limit, remaining: Math.max(1, bucket.limit - window.used), resetAt: new Date(window.startedMs + windowMs) };
  }

  reset(accountId: string): void {
    for (const key of this.#windows.keys()) if (key.startsWith(`${accountId} `)) this.#windows.delete(key);
  }
}
