import type { Issue } from '../../infra/contract/errors.ts';
import type { RouteSpec } from '../route.ts';

/** `Prefer: wait=N` in seconds. Other preferences are nobody's business here. */
export function readWait(header: string | undefined, { maxSeconds, defaultSeconds }: NonNullable<RouteSpec['wait']>): { seconds: number; issues: Issue[] } {
  const wish = (header ?? '').split(/[,;]/).map((one) => one.trim()).find((one) => /^wait\s*=/i.test(one));
  if (wish === undefined) return { seconds: defaultSeconds, issues: [] };
  const value = wish.replace(/^wait\s*=\s*/i, '').replace(/^"(.*)"$/, '$1');
  const seconds = /^\d{1,4}$/.test(value) ? Number(value) : Number.NaN;
  if (seconds <= maxSeconds) return { seconds, issues: [] };
  return { seconds: 0, issues: [{ code: Number.isNaN(seconds) ? 'invalid_string' : 'too_big', message: `Prefer: wait must be a whole number of seconds from 0 to ${maxSeconds}`, path: ['Prefer'], in: 'header' }] };
}
