/** Wall times of IANA time zones, from the zone database that Node brings along. */

const formatters = new Map<string, Intl.DateTimeFormat>();
const DAY_MS = 86_400_000;
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;
const NAME_MAX_CHARS = 64;

/** Node shows these zones by names that the zone database retired. */
const CURRENT_NAMES: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara', 'America/Buenos_Aires': 'America/Argentina/Buenos_Aires', 'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan', 'America/Cordoba': 'America/Argentina/Cordoba', 'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis', 'America/Jujuy': 'America/Argentina/Jujuy', 'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza', 'Asia/Calcutta': 'Asia/Kolkata', 'Asia/Katmandu': 'Asia/Kathmandu', 'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh', 'Atlantic/Faeroe': 'Atlantic/Faroe', 'Europe/Kiev': 'Europe/Kyiv', 'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei', 'Pacific/Truk': 'Pacific/Chuuk',
};

/** The canonical name of a zone given in any case, or null where there is no such zone. Bare offsets are no zones. */
export function canonicalZone(name: string): string | null {
  if (name.length > NAME_MAX_CHARS || !NAME.test(name)) return null;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions();
    return CURRENT_NAMES[timeZone] ?? timeZone;
  } catch {
    return null;
  }
}

export interface WallInstant {
  at: Date;
  kind: 'plain' | 'gap' | 'overlap';
}

/**
 * The instant of a wall time, given as if it were UTC. In a gap it moves forward by the gap's length; in an overlap it
 * is the first of the two.
 */
export function instantOfWall(wallMs: number, zone: string): WallInstant {
  // A day away in both directions lies the offset before and after any change that could touch this wall time.
  const before = offsetMs(wallMs - DAY_MS, zone);
  const after = offsetMs(wallMs + DAY_MS, zone);
  const fits = [wallMs - before, wallMs - after].filter((instant) => instant + offsetMs(instant, zone) === wallMs);
  if (fits.length === 0) return { at: new Date(wallMs - before), kind: 'gap' };
  return { at: new Date(Math.min(...fits)), kind: new Set(fits).size === 2 ? 'overlap' : 'plain' };
}

/** The day of an instant in a zone: `YYYY-MM-DD`. */
export function dayIn(zone: string, at: Date): string {
  return new Date(at.getTime() + offsetMs(at.getTime(), zone)).toISOString().slice(0, 10);
}

/** Offsets that were asked for, by zone and quarter of an hour: nobody changes clocks at other times. */
const offsets = new Map<string, number>();
const OFFSETS_KEPT = 50_000;
const QUARTER_MS = 900_000;

/** How far the zone's clocks are ahead of UTC at an instant. */
export function offsetMs(instantMs: number, zone: string): number {
  const quarter = `${zone} ${Math.floor(instantMs / QUARTER_MS)}`;
  let offset = offsets.get(quarter);
  if (offset === undefined) {
    if (offsets.size >= OFFSETS_KEPT) offsets.clear();
    offsets.set(quarter, (offset = askOffset(instantMs, zone)));
  }
  return offset;
}

function askOffset(instantMs: number, zone: string): number {
  const wholeSecond = Math.floor(instantMs / 1000) * 1000;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatterOf(zone).formatToParts(wholeSecond)) if (type !== 'literal') parts[type] = Number(value);
  return Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!, parts.second!) - wholeSecond;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone, hourCycle: 'h23', calendar: 'iso8601', numberingSystem: 'latn',
      year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric',
    });
    formatters.set(zone, formatter);
  }
  return formatter;
}
