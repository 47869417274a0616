import type { RuleIssue, Severity } from './catalog-entry.ts';

/** Makes the issues of one target. On a draft what would be an error is a warning. */
export class IssueList {
  readonly issues: RuleIssue[] = [];
  readonly #draft: boolean;

  constructor(draft: boolean) {
    this.#draft = draft;
  }

  error(issue: Omit<RuleIssue, 'severity'>): void {
    this.#add(this.#draft ? 'warning' : 'error', issue);
  }

  warning(issue: Omit<RuleIssue, 'severity'>): void {
    this.#add('warning', issue);
  }

  info(issue: Omit<RuleIssue, 'severity'>): void {
    this.#add('info', issue);
  }

  /** An issue about an option; `option` is its dotted name. */
  option(issue: { code: OptionCode; rule: string; option: string; message: string; fix: string; details?: Record<string, unknown> }): void {
    const { code, rule, option, message, fix, details = {} } = issue;
    this.error({ code, message, fix, path: ['options', ...option.split('.')], details: { option, rule, ...details } });
  }

  #add(severity: Severity, issue: Omit<RuleIssue, 'severity'>): void {
    const { code, message, fix, path, details } = issue;
    this.issues.push({ code, severity, message, fix, path, details });
  }
}

export type OptionCode = 'OPTION_INVALID' | 'OPTION_REQUIRED' | 'OPTION_CONFLICT' | 'OPTION_REQUIRES_MEDIA' | 'OPTION_UNSUPPORTED';
