import { ApiError, type Issue } from '../../../../infra/contract/errors.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { Severity } from '../../../../providers/catalog.ts';

/** One finding about a post to be: what is wrong, where in the request, and what to change. */
export interface PlanIssue extends Issue {
  severity: Severity;
  fix: string;
  account_id: string | null;
  platform: string | null;
  details: Record<string, unknown>;
}

interface Given extends Pick<PlanIssue, 'code' | 'severity' | 'message' | 'fix' | 'path'> {
  account?: Pick<Account, 'id' | 'platform'>;
  details?: Record<string, unknown>;
}

export function planIssue({ code, severity, message, fix, path, account, details = {} }: Given): PlanIssue {
  return { code, severity, message, fix, path, account_id: account?.id ?? null, platform: account?.platform ?? null, details };
}

/** How the refusals of a creation read as findings of preflight: the member of the body, and what to change. */
const AS_ISSUES: Readonly<Record<string, { path: (string | number)[]; fix: string }>> = {
  TEMPLATE_NOT_FOUND: { path: ['template_id'], fix: 'List the content templates and give the id of one, or leave template_id out.' },
  TAG_NOT_FOUND: { path: ['tag_ids'], fix: 'List the tags and give their ids, or leave the unknown ones out.' },
  MEDIA_NOT_FOUND: { path: ['media'], fix: 'Leave out what names media that does not exist.' },
  PLAN_UPGRADE_REQUIRED: { path: [], fix: 'Change to the Pro plan, or leave the feature out.' },
  WORKSPACE_SCOPE_CONFLICT: { path: ['targets'], fix: 'Give targets and a template of one workspace.' },
  WORKSPACE_ID_REQUIRED: { path: ['workspace_id'], fix: 'Give workspace_id.' },
  WORKSPACE_NOT_ACTIVE: { path: ['targets'], fix: 'Restore the workspace, or leave it out.' },
  INVALID_MEDIA_URL: { path: ['media'], fix: 'Give an address that anybody on the internet can read.' },
  NO_SLOT_AVAILABLE: { path: ['scheduled_at'], fix: 'Add slots to the queue schedule, or give a time.' },
};

/** Refusals that are made of findings, which are in the list by then. */
const FOUND_ALREADY: ReadonlySet<string> = new Set(['PREFLIGHT_FAILED', 'CONTENT_REQUIRED', 'TEMPLATE_VARIABLE_UNRESOLVED', 'ACCOUNT_DISCONNECTED', 'ACCOUNT_RECONNECT_REQUIRED']);

const TIME_CODES: Readonly<Record<string, string>> = { too_small: 'SCHEDULED_AT_IN_PAST', too_big: 'SCHEDULED_AT_TOO_FAR' };

/** Null where the refusal is no finding: what the caller may not use, or a body that is not one. */
export function issuesOf(error: ApiError): PlanIssue[] | null {
  const { code, message, details = {} } = error;
  if (code === 'VALIDATION_ERROR') return timeIssues(details.issues as Issue[]);
  if (code === 'INVALID_TARGETS') {
    const targets = details.targets as { target: string; code: string; message: string }[];
    return targets.map((one) => planIssue({ code: one.code, severity: 'error', message: one.message, fix: 'Correct the target, or leave it out.', path: ['targets'], details: { target: one.target } }));
  }
  if (FOUND_ALREADY.has(code)) return [];
  const known = AS_ISSUES[code];
  if (known === undefined) return null;
  const path = Array.isArray(details.path) ? (details.path as (string | number)[]) : known.path;
  return [planIssue({ code, severity: 'error', message, fix: known.fix, path, details })];
}

function timeIssues(issues: readonly Issue[]): PlanIssue[] | null {
  const found = issues.map((issue) => ({ issue, code: TIME_CODES[issue.code] }));
  if (found.some(({ issue, code }) => code === undefined || (issue.path[0] !== 'scheduled_at' && issue.path[0] !== 'timezone'))) return null;
  return found.map(({ issue, code }) => planIssue({ code: code!, severity: 'error', message: issue.message, fix: 'Give a time from now to 30 days ahead.', path: issue.path }));
}
