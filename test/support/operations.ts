import { newId } from '../../infra/contract/ids.ts';
import type { Infra } from '../../infra/context.ts';
import type { Account } from '../../infra/db/entities/account.entity.ts';
import { OperationEntity, type Operation } from '../../infra/db/entities/operation.entity.ts';
import { NO_TEXT, PostEntity, type Post } from '../../infra/db/entities/post.entity.ts';
import { StepEntity } from '../../infra/db/entities/step.entity.ts';
import { TargetEntity, type Target } from '../../infra/db/entities/target.entity.ts';
import { inScope, SYSTEM, tenant } from '../../infra/db/tenant.ts';
import { openPublish, tellOpened } from '../../infra/ledger/open.ts';
import { newStep } from '../../infra/ledger/claim.ts';
import { settle } from '../../infra/ledger/settle.ts';
import type { Ruling } from '../../infra/ledger/settlement.ts';

export interface Attempt {
  post: Post;
  target: Target;
  operation: Operation;
  /** Of its claim: what a late answer of the same attempt names. */
  token: string;
}

type AttemptOptions = { account: Account; text?: string; at?: Date; more?: Partial<Operation>; probing?: 'active' | 'unavailable' };

const UNANSWERED = { code: 'PROVIDER_OUTCOME_UNKNOWN', step: 'publish' } as const;

/** A post with one target whose only request was sent: claimed, and not answered yet. */
export async function sendingAttempt(infra: Pick<Infra, 'db' | 'config'>, { account, text = 'Hello', at = new Date(), more = {} }: AttemptOptions): Promise<Attempt> {
  const token = newId('request');
  const ids = await inScope(infra.db, tenant(account), async (tx) => {
    const common = { organizationId: account.organizationId, mode: account.mode, createdAt: at, updatedAt: at };
    const post = tx.create(PostEntity, {
      id: newId('post'), ...common, workspaceId: account.workspaceId ?? null, workspaceGiven: false, status: 'publishing', content: text, textSource: NO_TEXT, skipSignature: false, shortenUrls: false, media: null, targetOptions: null,
      timezone: 'UTC', scheduledAt: at, maxLatenessSeconds: 86_400, onLate: 'publish', revision: 1, seq: 1, eventSeq: 0, createdBy: { type: 'system', id: null },
    }, { persist: true });
    const target = tx.create(TargetEntity, {
      id: newId('target'), ...common, postId: post.id, accountId: account.id, platform: account.platform, byId: true, position: 0, status: 'publishing', attempt: 0, text,
      options: { reply_settings: 'following' }, media: [{ url: 'https://example.com/a.png', type: 'image' }], warnings: [],
    }, { persist: true });
    const operation = openPublish(tx, { post, target, actor: { type: 'system', id: null }, requestId: null, now: at });
    tellOpened(tx, [operation], at);
    Object.assign(operation, { status: 'sending', claimToken: token, claimStep: 'publish', claimDeadline: new Date(at.getTime() + 90_000), claimedAt: at, sentAt: at });
    Object.assign(newStep(tx, operation, { name: 'publish', effect: 'public_unkeyed', required: true, position: 0 }), { state: 'sending', attempt: 1, progress: 'body_sent', startedAt: at, sentAt: at });
    return { post: post.id, target: target.id, operation: operation.id };
  });
  if (Object.keys(more).length > 0) await inScope(infra.db, SYSTEM, (tx) => tx.nativeUpdate(OperationEntity, { id: ids.operation }, more));
  return read(infra, ids, token);
}

/** The same, after its answer was lost. */
export async function unknownAttempt(infra: Pick<Infra, 'db' | 'config'>, options: AttemptOptions): Promise<Attempt> {
  const { at = new Date(), probing = 'active', more = {} } = options;
  const attempt = await sendingAttempt(infra, { ...options, more: {} });
  await settleAttempt(infra, attempt, { kind: 'unknown', error: UNANSWERED, probing, nextProbeAt: probing === 'active' ? new Date(at.getTime() + 3_600_000) : null }, at);
  if (Object.keys(more).length > 0) await inScope(infra.db, SYSTEM, (tx) => tx.nativeUpdate(OperationEntity, { id: attempt.operation.id }, more));
  return read(infra, { post: attempt.post.id, target: attempt.target.id, operation: attempt.operation.id }, attempt.token);
}

/** What the attempt's own sender says, in time or late. */
export async function settleAttempt(infra: Pick<Infra, 'db' | 'config'>, { operation, token }: Attempt, ruling: Ruling, now: Date = new Date()): Promise<boolean> {
  const state = ruling.kind === 'succeeded' ? 'done' : ruling.kind === 'unknown' ? 'unknown' : 'refused';
  const settled = await inScope(infra.db, tenant(operation), (tx) => settle(tx, {
    operationId: operation.id, by: { kind: 'sender', token }, ruling, now, step: { name: 'publish', state, trip: null, httpStatus: null },
    evidence: [{
      kind: 'request_progress', step: 'publish', source: 'sender', conclusion: 'undetermined', summary: 'The exchange ended with reset after body_sent.',
      data: { progress: 'body_sent', connected_at: now.toISOString(), headers_sent_at: now.toISOString(), body_sent_at: now.toISOString(), answer_started_at: null, bytes_sent: 214, bytes_received: 0, transport_error: 'reset' },
    }],
  }, infra.config.timing));
  return settled.applied;
}

export async function read(infra: Pick<Infra, 'db'>, ids: { post: string; target: string; operation: string }, token: string): Promise<Attempt> {
  return inScope(infra.db, SYSTEM, async (tx) => ({
    token,
    post: await tx.findOneOrFail(PostEntity, { id: ids.post }),
    target: await tx.findOneOrFail(TargetEntity, { id: ids.target }),
    operation: await tx.findOneOrFail(OperationEntity, { id: ids.operation }),
  }));
}

/** More steps after the unknown one, as a thread has them. */
export async function addStep(infra: Pick<Infra, 'db'>, operation: Operation, step: { name: string; position: number }): Promise<void> {
  await inScope(infra.db, SYSTEM, async (tx) => {
    newStep(tx, operation, { ...step, effect: 'public_unkeyed', required: true });
  });
}

export async function stepOf(infra: Pick<Infra, 'db'>, operationId: string, name: string) {
  return inScope(infra.db, SYSTEM, (tx) => tx.findOneOrFail(StepEntity, { operationId, name }));
}
