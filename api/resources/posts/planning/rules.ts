import { ApiError, type Issue } from '../../../../infra/contract/errors.ts';
import { ISSUES_COUNTED_MAX, ISSUES_SHOWN_MAX } from '../../../../infra/contract/limits.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { CatalogEntry, RuleIssue } from '../../../../providers/catalog.ts';
import { mediaTypeOf } from '../../../../infra/contract/media-type.ts';
import type { Effective } from './effective-options.ts';

/** A broken platform rule in the form of preflight: what is wrong, where in the request, and what to change. */
export interface PlanIssue extends Issue {
  severity: RuleIssue['severity'];
  fix: string;
  account_id: string;
  platform: string;
  details: Record<string, unknown>;
}

export function checkTarget(effective: Effective, account: Account, catalog: CatalogEntry): PlanIssue[] {
  const found = catalog.check({
    text: effective.text,
    // Remote files are measured when publishing; until then their figures are the caller's hints.
    media: effective.media.map((item) => ({ ...item, type: mediaTypeOf(item), measured: false })),
    options: effective.options,
    account: { username: account.username ?? null, metadata: account.metadata, facts: account.facts },
    draft: false,
  });
  return found.map((issue) => ({ ...issue, path: pathIn(issue.path, effective), account_id: account.id, platform: account.platform }));
}

/** The catalog speaks of the effective target; the caller wants to know which member of the body that was. */
function pathIn(path: RuleIssue['path'], effective: Effective): (string | number)[] {
  const [root, ...rest] = path;
  const option = root === 'options' ? String(rest[0]) : String(root);
  const origin = effective.originOf(option);
  if (origin !== null) return ['target_options', origin.key, origin.name, ...(root === 'options' ? rest.slice(1) : rest)];
  return root === 'options' ? ['target_options'] : path;
}

/** All broken hard rules of all targets in one answer; every account is heard before one is heard twice. */
export function refuseBroken(issues: readonly PlanIssue[]): void {
  const errors = issues.filter((issue) => issue.severity === 'error');
  if (errors.length === 0) return;
  const shown = onePerAccountFirst(errors).slice(0, ISSUES_SHOWN_MAX);
  const [first] = shown;
  const message = errors.length === 1 ? `${first!.message} ${first!.fix}` : `${errors.length} rules of the platforms are broken; the first: ${first!.message} See details.issues.`;
  throw new ApiError('PREFLIGHT_FAILED', message, { details: { issues: shown, issue_count: Math.min(errors.length, ISSUES_COUNTED_MAX) } });
}

function onePerAccountFirst(issues: readonly PlanIssue[]): PlanIssue[] {
  const seen = new Set<string>();
  const first = issues.filter((issue) => !seen.has(issue.account_id) && seen.add(issue.account_id));
  return [...first, ...issues.filter((issue) => !first.includes(issue))];
}
