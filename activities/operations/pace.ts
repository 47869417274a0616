import { CATCH_UP_GAP_MS, CATCH_UP_LATE_AFTER_MS } from '../../infra/contract/limits.ts';
import type { Account } from '../../infra/db/entities/account.entity.ts';
import type { Operation } from '../../infra/db/entities/operation.entity.ts';
import type { Post } from '../../infra/db/entities/post.entity.ts';
import type { Pace } from '../../infra/ledger/line.ts';

interface Work {
  account: Account;
  post: Post;
  operation: Operation;
}

/** The caller's own gap and budget, and between late posts a minute, so that an outage ends in no burst. */
export function paceOf({ account, post, operation }: Work): Pace | null {
  const isLate = !wasAskedFor(operation) && !!post.scheduledAt && operation.beganAt.getTime() - post.scheduledAt.getTime() > CATCH_UP_LATE_AFTER_MS;
  const dailyBudget = account.dailyBudget ?? null;
  const ownGap = account.minGapSeconds > 0;
  if (!ownGap && !isLate && dailyBudget === null) return null;
  return {
    ...(ownGap || !isLate ? { gapSeconds: account.minGapSeconds, gapOf: 'account' as const } : { gapSeconds: CATCH_UP_GAP_MS / 1000, gapOf: 'late_posts' as const }),
    dailyBudget, due: post.scheduledAt ?? operation.createdAt, postId: post.id, beganAt: operation.beganAt,
  };
}

/** What lateness is measured from: the due time, or the moment somebody asked for this attempt. */
export function dueAt({ post, operation }: Pick<Work, 'post' | 'operation'>): Date | null {
  const due = post.scheduledAt ?? null;
  return due !== null && wasAskedFor(operation) && operation.createdAt > due ? operation.createdAt : due;
}

function wasAskedFor(operation: Work['operation']): boolean {
  return operation.createdBy.type !== 'system';
}
