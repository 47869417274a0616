import type { ActivityDeps } from '../../activities/deps.ts';
import { carryOut } from '../../activities/operations/carry-out.ts';
import { begin } from '../../activities/posts/begin.ts';
import { Infra } from '../../infra/context.ts';
import { createOutbound } from '../../infra/http/outbound.ts';
import { providers } from '../../providers/registry.ts';
import type { System } from '../support/system.ts';
import { atOnce } from '../bench/stats.ts';

const AT_ONCE = 8;

/**
 * Carries posts with the real activities on the real servers, by a clock that jumps from one timer to the next. It keeps
 * the timers that Temporal would keep, because a real server's cannot be moved: what is waited for takes no time here.
 */
export class ByTheClock {
  readonly #deps: ActivityDeps;
  readonly #timers: { atMs: number; run: () => Promise<void> }[] = [];
  readonly #clock: { nowMs: number };

  private constructor(deps: ActivityDeps, clock: { nowMs: number }) {
    this.#deps = deps;
    this.#clock = clock;
  }

  static async open(system: System, start: Date): Promise<ByTheClock> {
    const clock = { nowMs: start.getTime() };
    const infra = await Infra.open('test', { ...system.env, LOG_LEVEL: 'silent' }, { clock: { now: () => new Date(clock.nowMs) } });
    const { config } = infra;
    const outbound = createOutbound({ allow: config.outboundAllow, blocked: [config.sandbox.url], connectTimeoutMs: config.timing.connectTimeoutMs });
    return new ByTheClock({ infra, outbound, providers }, clock);
  }

  get now(): Date {
    return new Date(this.#clock.nowMs);
  }

  /** What the workflow of a post does from now on, or from the given time. */
  publish(postId: string, at: Date = this.now): void {
    this.#at(at.getTime(), async () => {
      const begun = await begin(this.#deps, { postId, seq: 1 });
      if (begun.kind === 'early') return this.publish(postId, new Date(begun.untilMs));
      if (begun.kind === 'begun') for (const { operationId } of begun.operations) this.carry(operationId);
    });
  }

  carry(operationId: string, at: Date = this.now): void {
    this.#at(at.getTime(), async () => {
      const result = await carryOut(this.#deps, { operationId });
      if (result.kind === 'wait') this.carry(operationId, new Date(result.untilMs));
    });
  }

  /** Begins a post and leaves its operations to whoever carries them later. */
  async begin(postId: string): Promise<string[]> {
    const begun = await begin(this.#deps, { postId, seq: 1 });
    if (begun.kind !== 'begun') throw new Error(`${postId} did not begin: ${begun.kind}`);
    return begun.operations.map(({ operationId }) => operationId);
  }

  /** Lets the clock run until nothing waits any more, or until the given time. */
  async run(until: Date | null = null): Promise<void> {
    for (;;) {
      const nextMs = Math.max(this.#clock.nowMs, Math.min(...this.#timers.map((one) => one.atMs)));
      if (nextMs > (until?.getTime() ?? Number.MAX_VALUE)) break;
      this.#clock.nowMs = nextMs;
      const due = this.#timers.filter((one) => one.atMs <= nextMs);
      this.#timers.splice(0, this.#timers.length, ...this.#timers.filter((one) => one.atMs > nextMs));
      await atOnce(due, AT_ONCE, (one) => one.run());
    }
    if (until !== null) this.#clock.nowMs = Math.max(this.#clock.nowMs, until.getTime());
  }

  async close(): Promise<void> {
    await this.#deps.outbound.close();
    await this.#deps.infra.close();
  }

  #at(atMs: number, run: () => Promise<void>): void {
    this.#timers.push({ atMs, run });
  }
}
