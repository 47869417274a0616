import { TargetEntity } from '../../../infra/db/entities/target.entity.ts';
import { listEvidence } from '../../../infra/db/repositories/evidence.ts';
import { listTimeline } from '../../../infra/db/repositories/operations.ts';
import { listVerdicts } from '../../../infra/db/repositories/verdicts.ts';
import { pageReply, windowClause } from '../../page.ts';
import type { Call, Reply } from '../../route.ts';
import { oldestFirst } from './oldest-first.ts';
import { presentEntry, presentEvidence, presentRequest, presentVerdict } from './operations.present.ts';
import { loadOperation, showOperation } from './show.ts';

/** GET /v1/operations/{id} */
export async function read(call: Call): Promise<Reply> {
  const operation = await loadOperation(call, call.params.id!);
  return { status: 200, body: await showOperation(call.tx, operation, call.infra), workspaceIds: [operation.workspaceId ?? null] };
}

/** GET /v1/operations/{id}/timeline: oldest first. */
export async function timeline(call: Call): Promise<Reply> {
  const operation = await loadOperation(call, call.params.id!);
  const rows = await listTimeline(call.tx, operation.id, oldestFirst(call.window!, { time: 't.at', id: 't.id' }));
  return pageReply(call, { rows, position: (entry) => ({ at: entry.at, id: entry.id }), present: (entries) => entries.map(presentEntry) });
}

/** GET /v1/operations/{id}/evidence: newest first. */
export async function evidence(call: Call): Promise<Reply> {
  const operation = await loadOperation(call, call.params.id!);
  const rows = await listEvidence(call.tx, operation.id, windowClause(call.window!, { time: 'e.observed_at', id: 'e.id' }));
  return pageReply(call, { rows, position: (one) => ({ at: one.observedAt, id: one.id }), present: (all) => all.map(presentEvidence) });
}

/** GET /v1/operations/{id}/verdicts: oldest first. */
export async function verdicts(call: Call): Promise<Reply> {
  const operation = await loadOperation(call, call.params.id!);
  const rows = await listVerdicts(call.tx, operation.id, oldestFirst(call.window!, { time: 'v.created_at', id: 'v.id' }));
  return pageReply(call, { rows, position: (verdict) => ({ at: verdict.createdAt, id: verdict.id }), present: (all) => all.map(presentVerdict) });
}

/** GET /v1/operations/{id}/request: what was asked, as the target holds it frozen for sending. */
export async function request(call: Call): Promise<Reply> {
  const operation = await loadOperation(call, call.params.id!);
  const target = operation.targetId ? await call.tx.findOne(TargetEntity, { id: operation.targetId }) : null;
  return { status: 200, body: { data: presentRequest(operation, target) } };
}
