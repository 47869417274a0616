/** Names, ids and arguments of workflows: what the outbox stores and what every process agrees on. Ids and enums only. */
export const WORKFLOWS = { publishPost: 'publishPost', reconcileOperation: 'reconcileOperation' } as const;
export const WAKE_SIGNAL = 'wake';

/** An operation as workflows see it: ids and enums only. */
export interface OperationRef {
  operationId: string;
  platform: string;
  accountId: string;
}

export interface PublishPostInput {
  postId: string;
  seq: number;
  /** The operations of a post that is due at acceptance; absent where `begin` makes them at the due time. */
  operations?: OperationRef[];
  activityTimeoutMs: number;
}

export interface ReconcileOperationInput {
  operationId: string;
  platform: string;
  activityTimeoutMs: number;
}

export const workflowIds = {
  publishPost: (postId: string, seq: number) => `post/${postId}/${seq}`,
  reconcileOperation: (operationId: string) => `reconcile/${operationId}`,
};

/** What a carry-out came back with. The row is the authority; this only tells the workflow whether to wait. */
export type CarryOutResult =
  | { kind: 'settled'; status: string }
  | { kind: 'wait'; untilMs: number; reason: string };

export type BeginResult =
  | { kind: 'begun'; operations: OperationRef[] }
  | { kind: 'early'; untilMs: number }
  | { kind: 'superseded' }
  | { kind: 'ended'; outcome: 'held' | 'skipped' };

export type ProbeResult =
  | { kind: 'settled'; status: string }
  /** `isUnknown: false`: a person decided, and the platform is read once more all the same. */
  | { kind: 'wait'; untilMs: number; isUnknown: boolean }
  /** Only a verdict, a late answer or a requested probe can bring more. */
  | { kind: 'idle' };
