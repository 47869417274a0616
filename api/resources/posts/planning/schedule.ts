import { SCHEDULE_AHEAD_MAX_MS, SCHEDULE_PAST_GRACE_MS } from '../../../../infra/contract/limits.ts';
import { validationError } from '../../../validation/issues.ts';
import { instantOfWall } from '../../../time-zone.ts';

/** When a post is to go out, after `scheduled_at` and `timezone` were understood. */
export interface Schedule {
  /** `due`: at once, as `now`, but with the instant that was given. `auto`: the slot is still to be chosen. */
  kind: 'draft' | 'now' | 'due' | 'later' | 'auto';
  at: Date | null;
  /** The wall time as given, kept only where no offset was given. */
  wallTime: string | null;
  warnings: ('SCHEDULE_DST_GAP' | 'SCHEDULE_DST_OVERLAP')[];
}

/** At once, in the transaction that accepts it. */
export function goesOut({ kind }: Pick<Schedule, 'kind'>): boolean {
  return kind === 'now' || kind === 'due';
}

export interface ScheduleFault {
  code: 'invalid_string' | 'too_small' | 'too_big';
  message: string;
}

const FORM = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

/** Reads `scheduled_at`, in whatever range it is; the zone counts only for a time without an offset. */
export function readSchedule(given: string, options: { timezone: string; now: Date }): Schedule | ScheduleFault {
  if (given === 'draft') return { kind: 'draft', at: null, wallTime: null, warnings: [] };
  if (given === 'auto') return { kind: 'auto', at: null, wallTime: null, warnings: [] };
  if (given === 'now') return { kind: 'now', at: options.now, wallTime: null, warnings: [] };
  const match = FORM.exec(given);
  const wallMs = match === null ? null : wallOf(match);
  const offset = match?.[8] === undefined ? null : offsetOf(match[8]);
  if (match === null || wallMs === null || Number.isNaN(offset)) return notUnderstood();
  if (offset !== null) return { kind: 'later', at: new Date(wallMs - offset), wallTime: null, warnings: [] };
  return readWallTime(new Date(wallMs).toISOString().slice(0, -1), options.timezone);
}

/** A wall time as stored (`2026-11-20T09:00:00.000`), in a zone. */
export function readWallTime(wallTime: string, timezone: string): Schedule {
  const { at, kind } = instantOfWall(Date.parse(`${wallTime}Z`), timezone);
  const warnings: Schedule['warnings'] = kind === 'gap' ? ['SCHEDULE_DST_GAP'] : kind === 'overlap' ? ['SCHEDULE_DST_OVERLAP'] : [];
  return { kind: 'later', at, wallTime, warnings };
}

export function isFault(read: Schedule | ScheduleFault): read is ScheduleFault {
  return 'message' in read;
}

interface Range {
  now: Date;
  /** The time that the post has already: it is not judged again, however late the post is. */
  stored?: Date | null;
}

export function inRange(schedule: Schedule, { now, stored = null }: Range): Schedule | ScheduleFault {
  if (schedule.kind !== 'later' || schedule.at === null || schedule.at.getTime() === stored?.getTime()) return schedule;
  const aheadMs = schedule.at.getTime() - now.getTime();
  if (aheadMs > SCHEDULE_AHEAD_MAX_MS) return { code: 'too_big', message: 'scheduled_at must be at most 30 days ahead. Choose an earlier time, or save a draft and schedule it later.' };
  if (aheadMs < -SCHEDULE_PAST_GRACE_MS) return { code: 'too_small', message: 'scheduled_at is in the past. Choose a later time, or "now".' };
  return aheadMs > 0 ? schedule : { ...schedule, kind: 'due' };
}

/** The wall time as if it were UTC, or null where the calendar or the clock has no such time. */
function wallOf(match: RegExpExecArray): number | null {
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? 0)) as [number, number, number, number, number, number];
  if (year < 1970 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return null;
  const ms = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const wallMs = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  return new Date(wallMs).getUTCDate() === day ? wallMs : null;
}

/** NaN where the offset names no time of day. */
function offsetOf(text: string): number {
  if (text === 'Z' || text === 'z') return 0;
  const digits = text.slice(1).replace(':', '');
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2) || '0');
  if (hours > 23 || minutes > 59) return Number.NaN;
  return (text[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

function notUnderstood(): ScheduleFault {
  return { code: 'invalid_string', message: 'scheduled_at must be "now", "draft", "auto" or an ISO 8601 time such as 2026-11-20T09:00:00Z; without an offset it is a wall time in timezone.' };
}

/** The schema has judged what it could; what it accepted a moment ago can still have passed its limit. */
export function scheduleOrRefuse(given: string, options: Range & { timezone: string }): Schedule {
  return orRefuse(inRange(orRefuse(readSchedule(given, options)), options));
}

export function orRefuse(read: Schedule | ScheduleFault, field = 'scheduled_at'): Schedule {
  if (isFault(read)) throw validationError([{ ...read, path: [field], in: 'body' }]);
  return read;
}
