/** Statuses and their transition tables. The database refuses what is not listed here (see the transition triggers in the migrations). */

export const POST_STATUSES = ['draft', 'scheduled', 'publishing', 'published', 'failed', 'partial'] as const;
export type PostStatus = (typeof POST_STATUSES)[number];

export const TARGET_STATUSES = ['draft', 'scheduled', 'publishing', 'published', 'failed'] as const;
export type TargetStatus = (typeof TARGET_STATUSES)[number];

export const TARGET_TRANSITIONS: Record<TargetStatus, readonly TargetStatus[]> = {
  draft: ['scheduled', 'publishing'],
  scheduled: ['draft', 'publishing', 'failed'],
  publishing: ['published', 'failed', 'draft'],
  published: ['draft', 'failed'],
  failed: ['publishing', 'published'],
};

export const OPERATION_STATUSES = ['pending', 'sending', 'succeeded', 'failed', 'unknown'] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];

export const OPERATION_TRANSITIONS: Record<OperationStatus, readonly OperationStatus[]> = {
  pending: ['sending', 'failed'],
  sending: ['pending', 'succeeded', 'failed', 'unknown'],
  unknown: ['succeeded', 'failed'],
  // Only what a person decided can be corrected afterwards.
  failed: ['succeeded'],
  succeeded: ['failed'],
};

export const OPEN_OPERATION_STATUSES = ['pending', 'sending', 'unknown'] as const satisfies readonly OperationStatus[];

export const OPERATION_KINDS = [
  'publish', 'cross_post', 'published_edit', 'unpublish', 'social_action', 'moderation_action', 'read_receipt',
  'message_edit', 'comment_edit', 'whatsapp_admin', 'ad_report', 'audience_send',
] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

export const SETTLED_BY = ['answer', 'late_answer', 'probe', 'verdict', 'service'] as const;
export type SettledBy = (typeof SETTLED_BY)[number];

export const PROBING = ['none', 'active', 'exhausted', 'unavailable'] as const;
export type Probing = (typeof PROBING)[number];

export const STEP_EFFECTS = ['read', 'private', 'public_keyed', 'public_unkeyed'] as const;
export type StepEffect = (typeof STEP_EFFECTS)[number];

export const STEP_STATES = ['pending', 'sending', 'done', 'refused', 'unknown', 'skipped'] as const;
export type StepState = (typeof STEP_STATES)[number];

/** How far a request went, as observed on the wire. */
export const REQUEST_PROGRESS = ['not_started', 'connecting', 'headers_sent', 'body_sent', 'answer_started', 'answered'] as const;
export type RequestProgress = (typeof REQUEST_PROGRESS)[number];

export const WAITING_FOR = ['rate_budget', 'provider_wait', 'thread_parent', 'provider_processing'] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

export const ACCOUNT_STATUSES = ['active', 'reconnect_required', 'disconnecting', 'disconnected'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

export const SANDBOX_BEHAVIOURS = [
  'normal', 'token_expired', 'token_revoked', 'refresh_lost', 'scopes_missing', 'suspended', 'rate_limited',
  'listing_hidden', 'listing_late', 'ignores_idempotency', 'processing_slow', 'processing_failed',
] as const;
export type SandboxBehaviour = (typeof SANDBOX_BEHAVIOURS)[number];

/** The status of a post is a function of its targets, computed in the transaction that changes one of them. */
export function postStatusOf(targets: readonly TargetStatus[]): PostStatus {
  if (targets.length === 0) return 'draft';
  const has = (status: TargetStatus) => targets.includes(status);
  const all = (status: TargetStatus) => targets.every((one) => one === status);
  if (has('publishing')) return 'publishing';
  if (all('scheduled')) return 'scheduled';
  if (all('draft')) return 'draft';
  if (all('published')) return 'published';
  if (has('published')) return 'partial';
  return 'failed';
}
