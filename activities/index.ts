import type { BeginResult, CarryOutResult, ProbeResult } from '../workflows/names.ts';
import type { ActivityDeps } from './deps.ts';
import { carryOut } from './operations/carry-out.ts';
import { probeOperation } from './operations/probe.ts';
import { begin } from './posts/begin.ts';

/** Database only: may run as a local activity, which runs again after a crash. */
export interface CoreActivities {
  begin(input: { postId: string; seq: number }): Promise<BeginResult>;
}

/** Calls out. */
export interface ProviderActivities {
  carryOut(input: { operationId: string }): Promise<CarryOutResult>;
  probeOperation(input: { operationId: string }): Promise<ProbeResult>;
}

export function createCoreActivities(deps: ActivityDeps): CoreActivities {
  return { begin: (input) => begin(deps, input) };
}

export function createProviderActivities(deps: ActivityDeps): ProviderActivities {
  return {
    carryOut: (input) => carryOut(deps, input),
    probeOperation: (input) => probeOperation(deps, input),
  };
}
