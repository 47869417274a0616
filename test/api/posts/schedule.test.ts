import { describe, expect, test } from '@jest/globals';
import { inRange, isFault, readSchedule, readWallTime } from '../../../api/resources/posts/planning/schedule.ts';
import { canonicalZone } from '../../../api/time-zone.ts';

const read = (given: string, { timezone = 'UTC', now = '2026-03-01T00:00:00.000Z' } = {}) => {
  const understood = readSchedule(given, { timezone, now: new Date(now) });
  const schedule = isFault(understood) ? understood : inRange(understood, { now: new Date(now) });
  return isFault(schedule) ? schedule.code : schedule;
};

describe('scheduled_at › grammar', () => {
  test.each([
    ['2026-03-02T10:00Z', '2026-03-02T10:00:00.000Z'],
    ['2026-03-02 10:00Z', '2026-03-02T10:00:00.000Z'],
    ['2026-03-02t10:00z', '2026-03-02T10:00:00.000Z'],
    ['2026-03-02T10:00:07Z', '2026-03-02T10:00:07.000Z'],
    ['2026-03-02T10:00:07.1Z', '2026-03-02T10:00:07.100Z'],
    ['2026-03-02T10:00:07.123999999Z', '2026-03-02T10:00:07.123Z'],
    ['2026-03-02T10:00+02', '2026-03-02T08:00:00.000Z'],
    ['2026-03-02T10:00-0330', '2026-03-02T13:30:00.000Z'],
    ['2026-03-02T10:00+05:45', '2026-03-02T04:15:00.000Z'],
  ])('%s is an instant', (given, instant) => {
    expect(read(given)).toEqual({ kind: 'later', at: new Date(instant), wallTime: null, warnings: [] });
  });

  test.each([
    'Auto', 'NOW', 'Draft', 'tomorrow', '', '2026-03-02', '2026-03-02T10', '2026-03-02T24:00Z', '2026-03-02T10:00:60Z', '2026-03-02T10:60Z', '2026-02-29T10:00Z', '2026-13-01T10:00Z',
    '2026-00-10T10:00Z', '2026-W10-1T10:00Z', '2026-03-02T10:00:07.Z', '2026-03-02T10:00:07.1234567890Z', '2026-03-02T10:00+24:00', '2026-03-02T10:00+05:60', '2026-03-02T10:00+5',
    '1969-12-31T10:00Z', ' 2026-03-02T10:00Z', '2026-03-02T10:00Z ', '+2026-03-02T10:00Z', '2026-03-02T10:00 Z', '1772445600',
  ])('%p is no time', (given) => expect(read(given)).toBe('invalid_string'));

  test('now is due at acceptance, a draft has no time', () => {
    expect(read('now')).toEqual({ kind: 'now', at: new Date('2026-03-01T00:00:00.000Z'), wallTime: null, warnings: [] });
    expect(read('draft')).toEqual({ kind: 'draft', at: null, wallTime: null, warnings: [] });
  });
});

describe('scheduled_at › range', () => {
  test.each([
    ['2026-03-31T00:00:00.000Z', 'later'],
    ['2026-03-31T00:00:00.001Z', 'too_big'],
    ['2026-03-01T00:00:00.001Z', 'later'],
    ['2026-03-01T00:00:00.000Z', 'due'],
    ['2026-02-28T23:55:00.000Z', 'due'],
    ['2026-02-28T23:54:59.999Z', 'too_small'],
    ['9999-12-31T23:59Z', 'too_big'],
  ])('%s', (given, expected) => {
    const schedule = read(given);
    expect(typeof schedule === 'string' ? schedule : schedule.kind).toBe(expected);
  });

  test('what is due keeps the instant that was given', () => {
    expect(read('2026-02-28T23:58:00Z')).toMatchObject({ kind: 'due', at: new Date('2026-02-28T23:58:00Z') });
  });
});

describe('scheduled_at › wall time in three zones', () => {
  test.each([
    // Clocks go forward: the wall time moves forward by the gap.
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z', ['SCHEDULE_DST_GAP']],
    ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30:00.000Z', ['SCHEDULE_DST_GAP']],
    ['Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:45:00.000Z', ['SCHEDULE_DST_GAP']],
    // Clocks go back: the first of the two instants.
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z', ['SCHEDULE_DST_OVERLAP']],
    ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00.000Z', ['SCHEDULE_DST_OVERLAP']],
    ['Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45:00.000Z', ['SCHEDULE_DST_OVERLAP']],
    // The edges belong to neither.
    ['Europe/Berlin', '2026-03-29T01:59:59.999', '2026-03-29T00:59:59.999Z', []],
    ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00:00.000Z', []],
    ['Europe/Berlin', '2026-10-25T01:59', '2026-10-24T23:59:00.000Z', []],
    ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z', []],
    ['America/New_York', '2026-03-08T03:00', '2026-03-08T07:00:00.000Z', []],
    ['America/New_York', '2026-11-01T02:00', '2026-11-01T07:00:00.000Z', []],
    ['Australia/Lord_Howe', '2026-04-05T02:00', '2026-04-04T15:30:00.000Z', []],
    ['Asia/Kolkata', '2026-03-10T09:00', '2026-03-10T03:30:00.000Z', []],
    ['Pacific/Kiritimati', '2026-03-10T09:00', '2026-03-09T19:00:00.000Z', []],
  ])('%s %s', (timezone, wall, instant, warnings) => {
    const now = new Date(Date.parse(instant) - 86_400_000).toISOString();
    const wallTime = `${wall}${{ 16: ':00.000', 23: '' }[wall.length]}`;
    expect(read(wall, { timezone, now })).toEqual({ kind: 'later', at: new Date(instant), wallTime, warnings });
    expect(readWallTime(wallTime, timezone)).toMatchObject({ at: new Date(instant) });
  });
});

describe('time zones', () => {
  test.each([['utc', 'UTC'], ['europe/berlin', 'Europe/Berlin'], ['Asia/Kolkata', 'Asia/Kolkata'], ['asia/calcutta', 'Asia/Kolkata'], ['EUROPE/KYIV', 'Europe/Kyiv'], ['Etc/GMT+5', 'Etc/GMT+5']])('%s is %s', (given, canonical) => {
    expect(canonicalZone(given)).toBe(canonical);
  });
  test.each(['', '+01:00', 'Z', 'Mars/Base', 'Europe/Berlin ', 'x'.repeat(100), '../etc/passwd'])('%p is none', (given) => expect(canonicalZone(given)).toBeNull());
});
