import { setTimeout as pause } from 'node:timers/promises';
import type { Infra } from '../../../infra/context.ts';
import type { Lifecycle } from '../../lifecycle.ts';
import { CHECKS, type CheckName, type Finding } from './checks.ts';

const CACHED_MS = 2_000;
/** A check that hangs is a failed check: the answer must come while somebody waits for it. */
const CHECK_TIMEOUT_MS = 3_000;
const FOR_ACCEPTING: readonly string[] = ['database', 'migrations', 'draining'];

export interface Check extends Finding {
  name: CheckName | 'draining';
  latency_ms: number;
}

/** Asks what the service stands on, at most every two seconds, whoever asks. */
export class Readiness {
  readonly #infra: Infra;
  readonly #lifecycle: Lifecycle;
  #latest: { at: number; checks: Promise<Check[]> } | undefined;

  constructor(infra: Infra, lifecycle: Lifecycle) {
    this.#infra = infra;
    this.#lifecycle = lifecycle;
  }

  /** Posts are accepted while Temporal and the workers are away, so `accept` asks less. */
  async check(purpose: 'all' | 'accept'): Promise<{ isReady: boolean; checks: Check[] }> {
    if (this.#latest === undefined || performance.now() - this.#latest.at > CACHED_MS) this.#latest = { at: performance.now(), checks: this.#ask() };
    const all = [...(await this.#latest.checks), this.#draining()];
    const checks = purpose === 'accept' ? all.filter((check) => FOR_ACCEPTING.includes(check.name)) : all;
    return { isReady: checks.every((check) => check.status !== 'fail'), checks };
  }

  async #ask(): Promise<Check[]> {
    return Promise.all(CHECKS.map(async ({ name, onFailure, run }) => {
      const begin = performance.now();
      const finding = await Promise.race([run(this.#infra), pause(CHECK_TIMEOUT_MS, undefined, { ref: false })]).catch(() => undefined);
      return { name, ...(finding ?? { status: onFailure.status, message: onFailure.message, hint: onFailure.hint }), latency_ms: Math.round((performance.now() - begin) * 10) / 10 };
    }));
  }

  /** Never cached: balancers must see it at once. */
  #draining(): Check {
    return this.#lifecycle.isLeaving
      ? { name: 'draining', status: 'fail', message: 'This process is ending.', hint: null, latency_ms: 0 }
      : { name: 'draining', status: 'ok', message: 'This process takes requests.', hint: null, latency_ms: 0 };
  }
}
