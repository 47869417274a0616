import { ApiError } from '../../../infra/contract/errors.ts';
import type { Call } from '../../route.ts';
import { validationError } from '../../validation/issues.ts';

export { refuseStaleRevision as refuseStale } from '../../revision.ts';

/** The revision that the caller saw, from `If-Match` or the body; null = any. */
export function expectedRevision({ headers, body }: Pick<Call, 'headers' | 'body'>): number | null {
  const inHeader = ofHeader(headers['if-match']);
  const inBody: number | null = body.expected_revision ?? null;
  if (inHeader !== null && inBody !== null && inHeader !== inBody) {
    throw new ApiError('BAD_REQUEST', 'If-Match and expected_revision name different revisions. Give one of them.', { details: { field: 'expected_revision' } });
  }
  return inHeader ?? inBody;
}

function ofHeader(header: string | undefined): number | null {
  const text = header?.trim();
  if (text === undefined || text === '*') return null;
  const match = /^"(\d{1,15})"$/.exec(text);
  if (match !== null) return Number(match[1]);
  throw validationError([{ code: 'invalid_string', message: 'If-Match must be the ETag of the post, e.g. "3", or *', path: ['If-Match'], in: 'header' }]);
}
