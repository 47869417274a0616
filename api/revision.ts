import { isDeepStrictEqual } from 'node:util';
import Joi from 'joi';
import { ApiError } from '../infra/contract/errors.ts';

/** The revision that the caller saw, in the body of a change. Absent = any. */
export const expectedRevisionField = Joi.number().integer().min(1).description('The change is refused unless this is the revision now.');

/** Refuses a change of a row that is no longer as the caller saw it. */
export function refuseStaleRevision(row: { revision: number }, expected: number | null | undefined): void {
  if (expected === null || expected === undefined || expected === row.revision) return;
  throw new ApiError('REVISION_CONFLICT', 'This was changed since you read it. Read it again and repeat the change on what you find.', { details: { current_revision: row.revision } });
}

/** Takes over what differs from the row; `undefined` is what was not given. Where nothing differs neither the revision nor the time moves. */
export function applyChange<T extends { updatedAt: Date; revision?: number }>(row: T, wished: Partial<T>, now: Date): void {
  const changes = Object.entries(wished).filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, row[name as keyof T] ?? null));
  if (changes.length === 0) return;
  Object.assign(row, Object.fromEntries(changes), { updatedAt: now }, row.revision === undefined ? {} : { revision: row.revision + 1 });
}
