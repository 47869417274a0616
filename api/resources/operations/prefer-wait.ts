import { OPERATION_WAIT_DEFAULT_SECONDS, OPERATION_WAIT_MAX_SECONDS } from '../../../infra/contract/limits.ts';
import type { Call } from '../../route.ts';
import { validationError } from '../../validation/issues.ts';

/** `Prefer: wait=N` of routes about operations: 0 to 25 seconds, 10 when absent. Other preferences are nobody's business here. */
export function readOperationWait(headers: Call['headers']): number {
  const wish = (headers.prefer ?? '').split(/[,;]/).map((one) => one.trim()).find((one) => /^wait\s*=/i.test(one));
  if (wish === undefined) return OPERATION_WAIT_DEFAULT_SECONDS;
  const value = wish.replace(/^wait\s*=\s*/i, '').replace(/^"(.*)"$/, '$1');
  const seconds = /^\d{1,4}$/.test(value) ? Number(value) : Number.NaN;
  if (seconds <= OPERATION_WAIT_MAX_SECONDS) return seconds;
  throw validationError([{
    code: Number.isNaN(seconds) ? 'invalid_string' : 'too_big', message: `Prefer: wait must be a whole number of seconds from 0 to ${OPERATION_WAIT_MAX_SECONDS}`, path: ['Prefer'], in: 'header',
  }]);
}
