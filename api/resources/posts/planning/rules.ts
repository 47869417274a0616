import { ApiError } from '../../../../infra/contract/errors.ts';
import { ISSUES_COUNTED_MAX, ISSUES_SHOWN_MAX } from '../../../../infra/contract/limits.ts';
import { mediaTypeOf } from '../../../../infra/contract/media-type.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { AccountFacts, CatalogEntry, RuleIssue, TextLength } from '../../../../providers/catalog.ts';
import type { Effective } from './effective-options.ts';
import { planIssue, type PlanIssue } from './issues.ts';
import type { RenderedText } from './texts.ts';

interface CheckedTarget {
  account: Account;
  catalog: CatalogEntry;
  effective: Effective;
  rendered: RenderedText;
  isDraft: boolean;
}

export function factsOf(account: Account): AccountFacts {
  return { username: account.username ?? null, metadata: account.metadata, facts: account.facts };
}

export function lengthOf({ account, catalog, effective }: CheckedTarget, text: string | null): TextLength {
  return catalog.length({ text, options: effective.options, account: factsOf(account) });
}

/** The platform's own rules, with paths that name members of the body. */
export function checkTarget(target: CheckedTarget): PlanIssue[] {
  const { account, catalog, effective, rendered, isDraft } = target;
  const found = catalog.check({
    text: rendered.text,
    // Remote files are measured when publishing; until then their figures are the caller's hints.
    media: effective.media.map((item) => ({ ...item, type: mediaTypeOf(item), measured: false })),
    options: effective.options,
    account: factsOf(account),
    draft: isDraft,
  });
  return found.map((issue) => planIssue({ ...withSignatureShare(issue, target), path: pathIn(issue.path, effective), account }));
}

/** Who reads "too long" wants to know what of it he wrote himself. */
function withSignatureShare(issue: RuleIssue, target: CheckedTarget): RuleIssue {
  const { text, body } = target.rendered;
  if (issue.code !== 'CONTENT_TOO_LONG' || text === body) return issue;
  const share = lengthOf(target, text).value - lengthOf(target, body).value;
  return { ...issue, message: `${issue.message} The signature takes ${share} of them.`, details: { ...issue.details, signature_length: share } };
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
  const seen = new Set<string | null>();
  const first = issues.filter((issue) => !seen.has(issue.account_id) && seen.add(issue.account_id));
  return [...first, ...issues.filter((issue) => !first.includes(issue))];
}
