const RealDate = globalThis.Date;
/** Far enough behind that the database, whose clock nobody moves, finds nothing of a run in its future, and near enough that nothing is old. */
const BEHIND_MS = 25 * 86_400_000;

let nowMs = Math.floor((RealDate.now() - BEHIND_MS) / 1_000) * 1_000;
const beginning = nowMs;

class StandingDate extends RealDate {
  constructor(...given: any[]) {
    if (given.length === 0) super(nowMs);
    else super(...(given as [number]));
  }

  static override now(): number {
    return nowMs;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === '[object Date]';
  }
}

/**
 * The one clock of service and platform in this process: it stands still until it is told to move, so that what must happen
 * at a moment can be said exactly. Timers go on as ever.
 */
export const time = {
  stop(): void {
    globalThis.Date = StandingDate as DateConstructor;
  },
  goOn(): void {
    globalThis.Date = RealDate;
  },
  rewind(): void {
    nowMs = beginning;
  },
  pass(ms: number): void {
    nowMs += ms;
  },
  now: (): number => nowMs,
};
