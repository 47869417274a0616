import { ApiError } from '../infra/contract/errors.ts';
import { FAILED_AUTHENTICATIONS_PER_MINUTE } from '../infra/contract/limits.ts';
import type { Infra } from '../infra/context.ts';
import type { Tx } from '../infra/db/database.ts';
import { takeTokens } from '../infra/db/repositories/rate-limits.ts';
import { inScope, SYSTEM } from '../infra/db/tenant.ts';

const ADDRESSES_HELD_MAX = 10_000;
const STEP_MS = 60_000 / FAILED_AUTHENTICATIONS_PER_MINUTE;

/**
 * Limits guessing, by address. A secret of a wrong form never reaches the database, so its failures are counted in the process;
 * an unknown secret of the right form has asked the database already and is counted there, for all processes.
 */
export class FailedAuthentications {
  readonly #infra: Infra;
  readonly #fullAt = new Map<string, number>();

  constructor(infra: Infra) {
    this.#infra = infra;
  }

  countMalformed(address: string): void {
    const now = this.#infra.clock.now().getTime();
    const fullAt = Math.max(this.#fullAt.get(address) ?? 0, now) + STEP_MS;
    if (fullAt - now > 60_000) throw tooManyFailures((fullAt - now - 60_000) / 1000);
    if (this.#fullAt.size >= ADDRESSES_HELD_MAX) this.#forgetFull(now);
    this.#fullAt.set(address, fullAt);
  }

  async countUnknown(address: string): Promise<void> {
    const taking = await inScope(this.#infra.db, SYSTEM, (tx: Tx) => takeTokens(tx, [{ id: `address:${address}`, perMinute: FAILED_AUTHENTICATIONS_PER_MINUTE }]));
    if (!taking.isGranted) throw tooManyFailures(taking.levels[0]!.secondsUntilToken);
  }

  #forgetFull(now: number): void {
    for (const [address, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(address);
    // Under a flood from ever new addresses the oldest are forgotten: memory stays bounded.
    for (const address of this.#fullAt.keys()) {
      if (this.#fullAt.size < ADDRESSES_HELD_MAX) break;
      this.#fullAt.delete(address);
    }
  }
}

function tooManyFailures(seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', 'Too many requests with keys that are not valid came from this address.', {
    details: { limit: 'address', per_minute: FAILED_AUTHENTICATIONS_PER_MINUTE },
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) },
  });
}
