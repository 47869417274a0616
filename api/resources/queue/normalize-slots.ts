import type { QueueSlot } from '../../../infra/db/entities/queue-schedule.entity.ts';

type GivenSlot = Omit<QueueSlot, 'timezone'> & { timezone?: string };

/** Slots as they are stored: each with its zone, once, in order of day, time and zone. */
export function normalizeSlots(given: readonly GivenSlot[], timezone: string): QueueSlot[] {
  const slots = given.map((slot) => ({ day_of_week: slot.day_of_week, time: slot.time, timezone: slot.timezone ?? timezone }));
  const byKey = new Map(slots.map((slot) => [keyOf(slot), slot]));
  return [...byKey.keys()].sort().map((key) => byKey.get(key)!);
}

function keyOf({ day_of_week, time, timezone }: QueueSlot): string {
  return `${day_of_week} ${time} ${timezone}`;
}
