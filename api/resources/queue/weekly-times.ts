import type { QueueSlot } from '../../../infra/db/entities/queue-schedule.entity.ts';
import { instantOfWall, offsetMs } from '../../time-zone.ts';

/** Both ends belong to it. */
export interface Horizon {
  from: Date;
  to: Date;
}

/** An instant, and the zone in which it is a wall time that somebody chose. */
export interface SlotInstant {
  at: Date;
  zone: string;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Every instant of weekly wall times within a horizon, in order of time and each once. In a gap it moves forward by the gap's length; in an overlap the first counts. */
export function instantsOf(slots: readonly QueueSlot[], horizon: Horizon): SlotInstant[] {
  const byInstant = new Map<number, SlotInstant>();
  for (const slot of slots) {
    for (const at of ofSlot(slot, horizon)) if (!byInstant.has(at.getTime())) byInstant.set(at.getTime(), { at, zone: slot.timezone });
  }
  return [...byInstant.values()].sort((a, b) => a.at.getTime() - b.at.getTime());
}

function ofSlot({ day_of_week, time, timezone }: QueueSlot, horizon: Horizon): Date[] {
  const instants: Date[] = [];
  const minutes = Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  // A day more on either side, because a wall time that a gap moved may fall on another day.
  const last = wallOf(horizon.to, timezone) + DAY_MS;
  for (let day = firstDay(horizon.from, { day_of_week, timezone }); day <= last; day += 7 * DAY_MS) {
    const { at } = instantOfWall(day + minutes * MINUTE_MS, timezone);
    if (at >= horizon.from && at <= horizon.to) instants.push(at);
  }
  return instants;
}

/** The first day of this name that is not over the day before the horizon begins, at its midnight. */
function firstDay(from: Date, { day_of_week, timezone }: Pick<QueueSlot, 'day_of_week' | 'timezone'>): number {
  const midnight = Math.floor(wallOf(from, timezone) / DAY_MS) * DAY_MS - DAY_MS;
  return midnight + ((day_of_week - new Date(midnight).getUTCDay() + 7) % 7) * DAY_MS;
}

/** What the clocks of a zone show at an instant, as if it were UTC. */
function wallOf(at: Date, zone: string): number {
  return at.getTime() + offsetMs(at.getTime(), zone);
}

/** An hour of the week, as a zone's clocks show it. */
export interface HourOfWeek {
  /** 0 = Sunday. */
  weekday: number;
  hour: number;
}

export function hourOfWeek(at: Date, zone: string): HourOfWeek {
  const wall = new Date(wallOf(at, zone));
  return { weekday: wall.getUTCDay(), hour: wall.getUTCHours() };
}

/** The first minute of an hour of the week. */
export function slotOf({ weekday, hour }: HourOfWeek, timezone: string): QueueSlot {
  return { day_of_week: weekday, time: `${String(hour).padStart(2, '0')}:00`, timezone };
}

/** The wall time of an instant with its offset, e.g. `2026-11-23T09:00:00.000+01:00`. */
export function localTime(at: Date, zone: string): string {
  const offset = offsetMs(at.getTime(), zone) / MINUTE_MS;
  const two = (number: number) => String(Math.trunc(number)).padStart(2, '0');
  const shown = `${offset < 0 ? '-' : '+'}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
  return `${new Date(wallOf(at, zone)).toISOString().slice(0, -1)}${shown}`;
}
