import { describe, expect, test } from '@jest/globals';
import { hourOfWeek, instantsOf, localTime } from '../../../api/resources/queue/weekly-times.ts';

const DAYS_30 = 30 * 86_400_000;
const SUNDAY = 0;

/** The instants of a Sunday's wall time in the 30 days from `from` on. */
function sundays(time: string, timezone: string, from: string): string[] {
  const horizon = { from: new Date(from), to: new Date(Date.parse(from) + DAYS_30) };
  return instantsOf([{ day_of_week: SUNDAY, time, timezone }], horizon).map(({ at }) => at.toISOString().slice(0, 16));
}

describe('weekly wall times', () => {
  test.each([
    { what: 'Berlin, 02:30 is skipped', zone: 'Europe/Berlin', time: '02:30', from: '2026-03-20T00:00:00Z', expected: ['2026-03-22T01:30', '2026-03-29T01:30', '2026-04-05T00:30', '2026-04-12T00:30'] },
    { what: 'Berlin, 02:30 comes twice', zone: 'Europe/Berlin', time: '02:30', from: '2026-10-20T00:00:00Z', expected: ['2026-10-25T00:30', '2026-11-01T01:30', '2026-11-08T01:30', '2026-11-15T01:30'] },
    { what: 'New York, 02:30 is skipped', zone: 'America/New_York', time: '02:30', from: '2026-03-01T12:00:00Z', expected: ['2026-03-08T07:30', '2026-03-15T06:30', '2026-03-22T06:30', '2026-03-29T06:30'] },
    { what: 'New York, 01:30 comes twice', zone: 'America/New_York', time: '01:30', from: '2026-10-26T00:00:00Z', expected: ['2026-11-01T05:30', '2026-11-08T06:30', '2026-11-15T06:30', '2026-11-22T06:30'] },
    { what: 'Lord Howe, half an hour is skipped', zone: 'Australia/Lord_Howe', time: '02:15', from: '2026-09-30T00:00:00Z', expected: ['2026-10-03T15:45', '2026-10-10T15:15', '2026-10-17T15:15', '2026-10-24T15:15'] },
    { what: 'Lord Howe, half an hour comes twice', zone: 'Australia/Lord_Howe', time: '01:45', from: '2026-04-01T00:00:00Z', expected: ['2026-04-04T14:45', '2026-04-11T15:15', '2026-04-18T15:15', '2026-04-25T15:15'] },
  ])('$what', ({ zone, time, from, expected }) => {
    expect(sundays(time, zone, from)).toEqual(expected);
  });

  test('both ends of the horizon belong to it, and the minute outside does not', () => {
    const slots = [{ day_of_week: 1, time: '09:00', timezone: 'UTC' }];
    const monday = '2026-11-23T09:00:00.000Z';
    const within = (from: string, to: string) => instantsOf(slots, { from: new Date(from), to: new Date(to) }).map(({ at }) => at.toISOString());
    expect(within(monday, monday)).toEqual([monday]);
    expect(within('2026-11-23T09:00:00.001Z', '2026-11-30T08:59:59.999Z')).toEqual([]);
    expect(within('2026-11-23T08:00:00Z', '2026-11-30T09:00:00Z')).toEqual([monday, '2026-11-30T09:00:00.000Z']);
  });

  test('a day is a day of the zone, on either side of the date line', () => {
    expect(sundays('00:30', 'Pacific/Kiritimati', '2026-11-21T00:00:00Z')[0]).toBe('2026-11-21T10:30');
    expect(sundays('23:30', 'Pacific/Pago_Pago', '2026-11-21T00:00:00Z')[0]).toBe('2026-11-23T10:30');
  });

  test('two slots of one instant are one, and all come in order of time', () => {
    const slots = [
      { day_of_week: 2, time: '10:00', timezone: 'Europe/Berlin' },
      { day_of_week: 1, time: '10:00', timezone: 'Europe/Berlin' },
      { day_of_week: 1, time: '09:00', timezone: 'UTC' },
    ];
    const instants = instantsOf(slots, { from: new Date('2026-11-22T00:00:00Z'), to: new Date('2026-11-28T00:00:00Z') });
    expect(instants.map(({ at }) => at.toISOString())).toEqual(['2026-11-23T09:00:00.000Z', '2026-11-24T09:00:00.000Z']);
  });
});

test.each([
  ['Europe/Berlin', '2026-10-25T00:30:00.000Z', '2026-10-25T02:30:00.000+02:00', { weekday: 0, hour: 2 }],
  ['Europe/Berlin', '2026-10-25T01:30:00.000Z', '2026-10-25T02:30:00.000+01:00', { weekday: 0, hour: 2 }],
  ['America/New_York', '2026-03-08T03:30:00.000Z', '2026-03-07T22:30:00.000-05:00', { weekday: 6, hour: 22 }],
  ['Australia/Lord_Howe', '2026-04-04T15:15:00.000Z', '2026-04-05T01:45:00.000+10:30', { weekday: 0, hour: 1 }],
  ['America/St_Johns', '2026-11-21T00:00:00.000Z', '2026-11-20T20:30:00.000-03:30', { weekday: 5, hour: 20 }],
])('the clocks of %s at %s show %s', (zone, at, local, hour) => {
  expect(localTime(new Date(at), zone)).toBe(local);
  expect(hourOfWeek(new Date(at), zone)).toEqual(hour);
});
