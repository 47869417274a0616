import { inScope, tenant } from '../../infra/db/tenant.ts';
import { TransportFailure } from '../../infra/http/types.ts';
import { settle } from '../../infra/ledger/settle.ts';
import type { Finding, PlannedStep } from '../../providers/provider.ts';
import type { CarryOutResult } from '../../workflows/names.ts';
import { lostRuling, settleByService, type Carriage } from './carriage.ts';
import { lookingWork } from './load.ts';
import { plainPort } from './port.ts';
import { seenEvidence } from './seen.ts';
import { takeStep } from './take-step.ts';

/**
 * A keyed answer was lost: the platform is read first, because a found post needs no repetition; then the same key and
 * bytes go out again, if the server is still one that honours keys. An unreadable platform leaves the outcome unknown.
 */
export async function resend(carriage: Carriage, step: PlannedStep): Promise<CarryOutResult | null> {
  const finding = await look(carriage, step);
  if (finding?.kind === 'found') {
    const { deps, loaded } = carriage;
    await inScope(deps.infra.db, tenant(loaded.operation), (tx) =>
      settle(tx, {
        operationId: loaded.operation.id, by: { kind: 'probe' }, ruling: { kind: 'succeeded', proof: finding.proof }, evidence: seenEvidence(finding, step.name, null),
        step: { name: step.name, state: 'done', trip: null, httpStatus: null }, now: deps.infra.clock.now(),
      }, deps.infra.config.timing));
    return null;
  }
  if (finding?.kind === 'not_there') return takeStep(carriage, step);
  await settleByService(carriage, lostRuling(carriage));
  return null;
}

async function look(carriage: Carriage, step: PlannedStep): Promise<Finding | null> {
  const { deps, loaded, provider } = carriage;
  const work = lookingWork(deps, loaded, carriage.done);
  const http = plainPort(deps, loaded, { operation: loaded.operation, step: 'reconcile' });
  try {
    if (provider.stillKeyed && !(await provider.stillKeyed(work, http))) return null;
    return await provider.reconcile(step, work, loaded.operation.claimedAt!, http);
  } catch (error) {
    if (error instanceof TransportFailure) return null;
    throw error;
  }
}
