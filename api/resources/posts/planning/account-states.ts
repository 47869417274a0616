import { ApiError } from '../../../../infra/contract/errors.ts';
import { planIssue, type PlanIssue } from './issues.ts';
import type { ResolvedTarget } from './resolve-targets.ts';
import { goesOut, type Schedule } from './schedule.ts';

type Kind = Pick<Schedule, 'kind'>;

/** Row 11. An account that was named by its id must be able to publish; drafts may wait for it. */
export function refuseAccountStates(targets: readonly ResolvedTarget[], { kind }: Kind): void {
  if (kind === 'draft') return;
  const gone = targets.filter(isGone).map(({ account }) => account.id);
  if (gone.length > 0) throw new ApiError('ACCOUNT_DISCONNECTED', 'An account is disconnected. Connect it again, or leave it out.', { details: { account_ids: gone } });
  const broken = targets.filter((target) => isBrokenNow(target, kind)).map(({ account }) => account.id);
  if (broken.length > 0) throw new ApiError('ACCOUNT_RECONNECT_REQUIRED', 'An account has to be connected again before it can publish. Connect it, or leave it out.', { details: { account_ids: broken } });
}

/** The same as findings; what may be well again by the time it is needed refuses nothing. */
export function accountIssues(targets: readonly ResolvedTarget[], { kind }: Kind): PlanIssue[] {
  return targets.flatMap((target) => {
    const { account } = target;
    if (isGone(target)) {
      return [planIssue({ code: 'ACCOUNT_DISCONNECTED', severity: kind === 'draft' ? 'warning' : 'error', account, message: 'The account is disconnected.', fix: 'Connect the account again, or leave it out.', path: ['targets'] })];
    }
    if (account.status !== 'reconnect_required') return [];
    return [planIssue({ code: 'ACCOUNT_RECONNECT_REQUIRED', severity: isBrokenNow(target, kind) ? 'error' : 'warning', account, message: 'The account has to be connected again before it can publish.', fix: 'Connect the account again, or leave it out.', path: ['targets'] })];
  });
}

function isGone({ account }: ResolvedTarget): boolean {
  return account.status === 'disconnecting' || account.status === 'disconnected';
}

/** Reached through a platform or a workspace it is left to fail alone; named by its id it was meant. */
function isBrokenNow({ account, byId }: ResolvedTarget, kind: Schedule['kind']): boolean {
  return byId && account.status === 'reconnect_required' && goesOut({ kind });
}
