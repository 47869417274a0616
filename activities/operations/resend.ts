import { OperationEntity } from '../../infra/db/entities/operation.entity.ts';
import { inScope, tenant } from '../../infra/db/tenant.ts';
import { TransportFailure } from '../../infra/http/types.ts';
import { isOurs } from '../../infra/ledger/proof.ts';
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
  if (finding?.kind === 'found' && (await settleFound(carriage, step, finding))) return null;
  if (finding?.kind === 'not_there') return takeStep(carriage, step);
  await settleByService(carriage, lostRuling(carriage));
  return null;
}

/** False: another target of the account holds what was found, so nobody knows where this one is. */
async function settleFound({ deps, loaded }: Carriage, step: PlannedStep, finding: Extract<Finding, { kind: 'found' }>): Promise<boolean> {
  return inScope(deps.infra.db, tenant(loaded.operation), async (tx) => {
    const ruling = { kind: 'succeeded', proof: finding.proof } as const;
    const operation = await tx.findOneOrFail(OperationEntity, { id: loaded.operation.id });
    if (!(await isOurs(tx, operation, ruling))) return false;
    await settle(tx, {
      operationId: operation.id, by: { kind: 'probe' }, ruling, evidence: seenEvidence(finding, step.name, null),
      step: { name: step.name, state: 'done', trip: null, httpStatus: null }, now: deps.infra.clock.now(),
    }, deps.infra.config.timing);
    return true;
  });
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
