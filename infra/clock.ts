/** The one clock of a process, so that schedules can be driven by tests. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
