import type { ApiError, Issue, RowCode } from '../../../../infra/contract/errors.ts';
import { validationError } from '../../../validation/issues.ts';

/** Why a row cannot become a post, with a code that only rows have. */
export class RowRefusal extends Error {
  readonly code: RowCode;
  readonly details: Record<string, unknown>;

  constructor(code: RowCode, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = 'RowRefusal';
    this.code = code;
    this.details = details;
  }
}

export function cellInvalid(column: string, message: string): RowRefusal {
  return new RowRefusal('CSV_CELL_INVALID', message, { column });
}

export function columnError(column: string, issue: Pick<Issue, 'code' | 'message'>): ApiError {
  return validationError([{ ...issue, path: [column], in: 'body' }]);
}
