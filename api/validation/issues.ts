import { ApiError, type Issue } from '../../infra/contract/errors.ts';
import { ISSUE_MESSAGE_MAX_CHARS, ISSUES_COUNTED_MAX, ISSUES_SHOWN_MAX } from '../../infra/contract/limits.ts';

const PATH_PART_MAX_CHARS = 255;

/** The one 422 of the schema: at most 50 issues shown, up to 1,000 counted. */
export function validationError(issues: readonly Issue[]): ApiError {
  const count = Math.min(issues.length, ISSUES_COUNTED_MAX);
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map((issue) => ({
    ...issue,
    message: cut(issue.message, ISSUE_MESSAGE_MAX_CHARS),
    path: issue.path.map((part) => (typeof part === 'string' ? cut(part, PATH_PART_MAX_CHARS) : part)),
  }));
  const message = count === 1 ? `${cut(sentence(shown[0]!.message), 400)} See details.issues.` : `${count === ISSUES_COUNTED_MAX ? `${count} or more` : count} fields are not valid. See details.issues.`;
  return new ApiError('VALIDATION_ERROR', message, { details: { issues: shown, issue_count: count } });
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Cuts between code points, so that no half of a pair is shown; unpaired halves of the input are replaced. */
export function cut(text: string, max: number): string {
  const safe = text.toWellFormed();
  return safe.length <= max ? safe : `${safe.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
