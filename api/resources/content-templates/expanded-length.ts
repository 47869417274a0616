import { CONTENT_MAX_CHARS } from '../../../infra/contract/limits.ts';
import { validationError } from '../../validation/issues.ts';

/**
 * A short template with long values can become megabytes, for every account of a post: what it becomes has the limit of a
 * text that is given whole. `field` is the one of the body that holds the values.
 */
export function refuseOverlong(text: string, field: string): void {
  // A code point has at most two units, so what has more than twice as many need not be counted.
  if (text.length <= 2 * CONTENT_MAX_CHARS && [...text].length <= CONTENT_MAX_CHARS) return;
  throw validationError([{ code: 'too_big', message: `with these values the text has more than ${CONTENT_MAX_CHARS} characters`, path: [field], in: 'body' }]);
}
