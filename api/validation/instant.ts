const INSTANT = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** An RFC 3339 date-time with an offset; null when it is none. Digits beyond milliseconds are cut, not rounded. */
export function parseInstant(text: string): Date | null {
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59 || year < 1970) return null;
  const wall = new Date(Date.UTC(year, month - 1, day, hour, minute, second, Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))));
  if (wall.getUTCMonth() !== month - 1 || wall.getUTCDate() !== day) return null;
  const offset = (offsetHours * 60 + offsetMinutes) * (match[8] === '-' ? -1 : 1);
  const instant = new Date(wall.getTime() - offset * 60_000);
  return instant.getUTCFullYear() < 1970 || instant.getUTCFullYear() > 9999 ? null : instant;
}
