import type { Account } from '../db/entities/account.entity.ts';
import type { Operation } from '../db/entities/operation.entity.ts';
import type { Target } from '../db/entities/target.entity.ts';

/** A target as the wire shows it, the same in replies and in events. */
export function presentTargets(targets: readonly Target[], related: { accounts: ReadonlyMap<string, Account>; operations: ReadonlyMap<string, Pick<Operation, 'id' | 'status'>> }): Record<string, unknown> {
  const sorted = [...targets].sort((a, b) => a.position - b.position);
  return Object.fromEntries(sorted.map((target) => [target.accountId, presentTarget(target, related.accounts.get(target.accountId), operationOf(target, related.operations))]));
}

function operationOf(target: Target, operations: ReadonlyMap<string, Pick<Operation, 'id' | 'status'>>): Pick<Operation, 'id' | 'status'> | undefined {
  return target.operationId === null || target.operationId === undefined ? undefined : operations.get(target.operationId);
}

function presentTarget(target: Target, account: Account | undefined, operation: Pick<Operation, 'id' | 'status'> | undefined): Record<string, unknown> {
  return {
    status: target.status,
    platform: target.platform,
    accounts: [presentTargetAccount(target, account, operation)],
    ...(target.status === 'failed' && target.error ? { error: target.error } : {}),
  };
}

function presentTargetAccount(target: Target, account: Account | undefined, operation: Pick<Operation, 'id' | 'status'> | undefined): Record<string, unknown> {
  return {
    id: target.accountId,
    username: account?.username ?? null,
    display_name: account?.displayNameOverride ?? account?.displayName ?? null,
    avatar_url: account?.avatarUrl ?? null,
    url: target.url ?? null,
    platform_post_id: target.platformPostId ?? null,
    target_id: target.id,
    operation_id: target.operationId ?? null,
    operation_state: operation?.status ?? null,
    publish_operation_id: target.operationId ?? null,
    delivery_state: deliveryState(target, operation),
    attempt: target.attempt,
    published_at: instant(target.publishedAt),
    unpublished_at: instant(target.unpublishedAt),
    waiting_until: instant(target.waitingUntil),
    waiting_for: target.waitingFor ?? null,
    vanished_at: instant(target.vanishedAt),
    warnings: target.warnings,
  };
}

function deliveryState(target: Target, operation: Pick<Operation, 'status'> | undefined): string | null {
  if (target.status === 'draft') return null;
  if (operation === undefined) return target.status === 'failed' ? 'failed' : 'queued';
  return { pending: 'queued', sending: 'in_flight', unknown: 'unknown', succeeded: 'succeeded', failed: 'failed' }[operation.status];
}

export function instant(value: Date | null | undefined): string | null {
  return value ? value.toISOString() : null;
}
