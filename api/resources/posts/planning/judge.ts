import { ApiError } from '../../../../infra/contract/errors.ts';
import { issuesOf, type PlanIssue } from './issues.ts';

/** What becomes of a check that fails. `otherwise` is what the rest goes on with. */
export type Judge = <T>(check: () => T | Promise<T>, otherwise: T) => Promise<T>;

/** Creation and changes: the first check that fails answers. */
export const refusing: Judge = async (check) => check();

/** Preflight: what fails is written down, and the rest is looked at all the same. */
export function collecting(found: PlanIssue[]): Judge {
  return async (check, otherwise) => {
    try {
      return await check();
    } catch (error) {
      const issues = error instanceof ApiError ? issuesOf(error) : null;
      if (issues === null) throw error;
      found.push(...issues);
      return otherwise;
    }
  };
}
