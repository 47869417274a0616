import { OUTCOME_MESSAGES } from '../../infra/contract/outcome-messages.ts';
import { inScope, tenant } from '../../infra/db/tenant.ts';
import type { FinishedStep } from '../../infra/ledger/claim.ts';
import { settle } from '../../infra/ledger/settle.ts';
import type { Ruling } from '../../infra/ledger/settlement.ts';
import type { PlannedStep, Provider } from '../../providers/provider.ts';
import type { ActivityDeps } from '../deps.ts';
import type { Loaded } from './load.ts';
import { nextProbeAt } from './probe-schedule.ts';

/** One carrier's view of an operation during one run of the activity. */
export interface Carriage {
  deps: ActivityDeps;
  provider: Provider;
  loaded: Loaded;
  plan: PlannedStep[];
  /** Results of this run's steps that are not stored yet. */
  done: Map<string, FinishedStep>;
}

export async function settleByService(carriage: Carriage, ruling: Ruling): Promise<void> {
  const { deps, loaded, done } = carriage;
  const { db, clock, config } = deps.infra;
  await inScope(db, tenant(loaded.operation), (tx) =>
    settle(tx, {
      operationId: loaded.operation.id, by: { kind: 'service' }, ruling, done, now: clock.now(),
      ...(ruling.kind === 'unknown' && loaded.operation.claimStep ? {
        step: { name: loaded.operation.claimStep, state: 'unknown' as const, trip: null, httpStatus: null },
        notes: [{ type: 'worker_lost', message: `The deadline of the claim passed and nobody answered. ${OUTCOME_MESSAGES.PROVIDER_OUTCOME_UNKNOWN}`, step: loaded.operation.claimStep }],
      } : {}),
    }, config.timing));
}

/** A claim whose carrier is gone: nobody can tell whether a byte left. */
export function lostRuling({ deps, provider, loaded }: Carriage): Ruling {
  const now = deps.infra.clock.now();
  return {
    kind: 'unknown', error: { code: 'PROVIDER_OUTCOME_UNKNOWN', step: loaded.operation.claimStep ?? null }, probing: 'active',
    nextProbeAt: nextProbeAt({ mode: loaded.operation.mode, provider, unknownSince: now, now }),
  };
}
