import { ApiError } from '../../../infra/contract/errors.ts';
import { PROBE_GAP_MS, PROBES_PER_DAY_MAX } from '../../../infra/contract/limits.ts';
import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import type { OutboxRow } from '../../../infra/db/entities/outbox.entity.ts';
import { findOperation, lockOperationRow, probeRequestsSince, probesOfAccountSince } from '../../../infra/db/repositories/operations.ts';
import { startReconcile, wakeReconcile } from '../../../infra/db/repositories/outbox.ts';
import { noteOperation } from '../../../infra/db/repositories/timeline.ts';
import { inScope, tenant } from '../../../infra/db/tenant.ts';
import { tellTemporal } from '../../../infra/temporal/tell.ts';
import { platformCatalog } from '../../../providers/catalog.ts';
import { lookAgain } from '../../look-again.ts';
import type { Call, Reply } from '../../route.ts';
import { loadOperation, showOperation } from './show.ts';

const DAY_MS = 86_400_000;

/** POST /v1/operations/{id}/probe: the next read of the platform is due now. The schedule of the others stays. */
export async function probe(call: Call): Promise<Reply> {
  const { tx, now, infra, waitSeconds } = call;
  const { id } = await loadOperation(call, call.params.id!);
  const operation = await lockOperationRow(tx, id);
  refuseUnprobeable(operation);
  await refuseHaste(call, operation);
  const read = operation.probeCount;
  operation.nextProbeAt = now;
  noteOperation(tx, operation, [{ type: 'probe_requested', message: 'A read of the platform was asked for.', actor: call.caller.actor, requestId: call.requestId }], now);
  tellAfterCommit(call, [await startReconcile(tx, operation, { activityTimeoutMs: infra.config.timing.activityTimeoutMs, now }), await wakeReconcile(tx, operation, now)]);
  const reply: Reply = {
    status: 202, body: await showOperation(tx, operation, infra), headers: { Location: `/v1/operations/${id}` }, workspaceIds: [operation.workspaceId ?? null],
  };
  return { ...reply, settle: () => settle(call, { id, read, reply, waitSeconds }) };
}

/** Reading is harmless, so a reconciliation that was terminated is started again, not only woken. */
export function tellAfterCommit(call: Call, rows: readonly OutboxRow[]): void {
  const { infra } = call;
  call.afterCommit(async () => {
    for (const row of rows) await tellTemporal(infra.temporal, row, { now: infra.clock.now(), policy: 'ALLOW_DUPLICATE_FAILED_ONLY' });
  });
}

function refuseUnprobeable(operation: Operation): void {
  if (operation.status !== 'unknown') {
    throw new ApiError('OPERATION_NOT_UNKNOWN', `The operation is ${operation.status}; only an unknown outcome is looked up on the platform.`, { details: { status: operation.status } });
  }
  if (operation.probing === 'unavailable') {
    throw new ApiError('PROBE_UNAVAILABLE', 'This platform has nothing to read that could tell what happened. Look there yourself and give a verdict.', { details: { operation_id: operation.id } });
  }
}

async function refuseHaste(call: Call, operation: Operation): Promise<void> {
  const { tx, now } = call;
  const asked = await probeRequestsSince(tx, operation.id, new Date(now.getTime() - DAY_MS));
  const last = Math.max(operation.lastProbeAt?.getTime() ?? 0, asked.at(-1)?.getTime() ?? 0);
  if (now.getTime() - last < PROBE_GAP_MS) throw tooSoon('The platform was read for this operation less than a minute ago.', last + PROBE_GAP_MS, now);
  if (asked.length >= PROBES_PER_DAY_MAX) throw tooSoon(`More than ${PROBES_PER_DAY_MAX} reads of this operation were asked for within a day.`, asked.at(-PROBES_PER_DAY_MAX)!.getTime() + DAY_MS, now);
  const budget = platformCatalog(operation.platform)?.pacing.reads;
  if (!budget) return;
  const windowMs = budget.seconds * 1000;
  const reads = await probesOfAccountSince(tx, { accountId: operation.accountId, since: new Date(now.getTime() - windowMs), limit: budget.limit });
  if (reads.length >= budget.limit) throw tooSoon('The reads of this account on the platform are used up for now.', reads[0]!.getTime() + windowMs, now);
}

function tooSoon(message: string, freeAtMs: number, now: Date): ApiError {
  const seconds = Math.max(1, Math.ceil((freeAtMs - now.getTime()) / 1000));
  return new ApiError('RATE_LIMITED', `${message} Send the same request again after Retry-After.`, { headers: { 'Retry-After': String(seconds) } });
}

/** Waits until the read has ended, or something settled the operation. Each look is a short transaction of its own. */
async function settle(call: Call, work: { id: string; read: number; reply: Reply; waitSeconds: number }): Promise<Reply> {
  const { infra, caller } = call;
  const end = performance.now() + work.waitSeconds * 1000;
  const headers = { 'Preference-Applied': `wait=${work.waitSeconds}` };
  const seen = await lookAgain(end, (isLast) => inScope(infra.db, tenant(caller), async (tx) => {
    const operation = await findOperation(tx, work.id);
    const isDone = operation !== null && (operation.status !== 'unknown' || operation.probeCount > work.read);
    return operation === null || !(isDone || isLast) ? null : { isDone, body: await showOperation(tx, operation, infra) };
  }));
  if (seen?.isDone === true) return { ...work.reply, status: 200, body: seen.body, headers };
  return { ...work.reply, ...(seen === null ? {} : { body: seen.body }), headers: { ...work.reply.headers, ...headers } };
}
