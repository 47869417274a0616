import { ApiError } from '../../../infra/contract/errors.ts';
import { ApiKeyEntity } from '../../../infra/db/entities/api-key.entity.ts';
import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import type { Verdict } from '../../../infra/db/entities/verdict.entity.ts';
import { giveVerdict, type GivenVerdict, type VerdictAnswer } from '../../../infra/ledger/verdict.ts';
import type { Call, Reply } from '../../route.ts';
import { tellAfterCommit } from './probe.ts';
import { loadOperation, showOperation } from './show.ts';
import { readNamedObject } from './verdict-ids.ts';

/** POST /v1/operations/{id}/verdict: a person's decision on an unknown outcome, applied in this request's transaction. */
export async function verdict(call: Call): Promise<Reply> {
  const { body } = call;
  const operation = await loadOperation(call, call.params.id!);
  const happened = body.outcome === 'published' || body.outcome === 'happened';
  const named = await readNamedObject(call, operation, { happened, platformPostId: body.platform_post_id ?? null, url: body.url ?? null, fields: { id: 'platform_post_id', url: 'url' } });
  const decided = await decide(call, operation, { ...named, happened, reason: body.reason, expectedRevision: body.expected_revision, supersedes: body.supersedes ?? null });
  return { status: 200, body: await showOperation(call.tx, decided, call.infra), workspaceIds: [decided.workspaceId ?? null] };
}

type Decision = Pick<GivenVerdict, 'happened' | 'platformPostId' | 'url' | 'reason' | 'expectedRevision' | 'supersedes'>;

/** Applies it, or answers why not. Returns the operation as it is then. */
export async function decide(call: Call, operation: Operation, decision: Decision): Promise<Operation> {
  const { tx, infra, requestId, now } = call;
  const actor = await actorOf(call);
  const answer = await giveVerdict(tx, { ...decision, operationId: operation.id, outcome: outcomeOf(operation, decision.happened), actor, requestId, now }, infra.config.timing);
  if (answer.kind === 'not_unknown') {
    throw new ApiError('OPERATION_NOT_UNKNOWN', `The operation is ${answer.operation.status}: it may still get its answer. A verdict is taken once its outcome is unknown.`, { details: { status: answer.operation.status } });
  }
  if (answer.kind === 'conflict') throw conflictOf(answer);
  if (answer.kind === 'applied') tellAfterCommit(call, answer.outbox);
  return answer.operation;
}

function outcomeOf({ kind }: Operation, happened: boolean): Verdict['outcome'] {
  if (kind === 'publish' || kind === 'cross_post') return happened ? 'published' : 'not_published';
  return happened ? 'happened' : 'did_not_happen';
}

const CONFLICTS = {
  settled: 'The operation was settled otherwise than this verdict says. Read it; what the platform proved is not overruled.',
  decided: 'Another verdict was given on this operation. Read it before you decide anew.',
  revision: 'The operation changed since it was looked at. Read it again and decide on what it says now.',
  superseding: 'The verdict named in supersedes is not the one in force on this operation.',
} as const;

function conflictOf({ reason, details }: Extract<VerdictAnswer, { kind: 'conflict' }>): ApiError {
  return new ApiError('VERDICT_CONFLICT', CONFLICTS[reason], { details });
}

async function actorOf({ tx, caller }: Call): Promise<Verdict['actor']> {
  const { type, id } = caller.actor;
  if (type !== 'api_key') return { type: 'user', id: id!, name: null };
  const key = await tx.findOne(ApiKeyEntity, { id: id! }, { fields: ['id', 'name'] });
  return { type, id: id!, name: key?.name ?? null };
}
