import { inScope, tenant } from '../../infra/db/tenant.ts';
import type { FinishedStep } from '../../infra/ledger/claim.ts';
import { endLateOperation } from '../../infra/ledger/late.ts';
import { recordWait } from '../../infra/ledger/progress.ts';
import type { CarryOutResult } from '../../workflows/names.ts';
import type { ActivityDeps } from '../deps.ts';
import { decide, type Next } from './decide.ts';
import { lostRuling, settleByService, type Carriage } from './carriage.ts';
import { load, planOf, publishWork } from './load.ts';
import { resend } from './resend.ts';
import { takeStep } from './take-step.ts';

/** A plan has few steps; more turns than this mean that two carriers disturb each other, and one steps aside. */
const TURNS_MAX = 40;
const STEP_ASIDE_MS = 1_000;

/**
 * Carries an operation as far as it goes now: reads, private steps, then claim, send and settle of each public step.
 * The row decides what may be done, so it may be retried, reset and run twice. Dying on any line leaves either nothing
 * sent, or a claim whose deadline passes and makes the outcome unknown.
 */
export async function carryOut(deps: ActivityDeps, { operationId }: { operationId: string }): Promise<CarryOutResult> {
  const done = new Map<string, FinishedStep>();
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const loaded = await load(deps, operationId);
    if (loaded === null) return { kind: 'settled', status: 'gone' };
    const provider = deps.providers[loaded.operation.platform];
    if (provider === undefined) throw new Error(`no adapter for ${loaded.operation.platform}`);
    for (const step of loaded.reusable) if (!done.has(step.name) && !loaded.steps.some((own) => own.name === step.name && own.attempt > 0)) done.set(step.name, { checkpoint: step.checkpoint!, providerId: step.providerId ?? null, finishedAt: step.finishedAt!, usableUntil: step.usableUntil ?? null });
    const plan = planOf(provider, loaded, publishWork(deps, loaded, done));
    const result = await turnOf({ deps, provider, loaded, plan, done }, decide(loaded, plan, done, deps.infra.clock.now()));
    if (result !== null) return result;
  }
  return { kind: 'wait', untilMs: deps.infra.clock.now().getTime() + STEP_ASIDE_MS, reason: 'another carrier' };
}

/** One turn; null = look at the row again. */
async function turnOf(carriage: Carriage, next: Next): Promise<CarryOutResult | null> {
  const { deps, loaded } = carriage;
  const now = deps.infra.clock.now();
  switch (next.kind) {
    case 'settled':
      return { kind: 'settled', status: loaded.operation.status };
    case 'wait':
      if (next.record) await recordWait(deps.infra.db, loaded.operation, { ...next.record, until: next.until, reason: next.reason, countsAsFailure: false, now });
      return { kind: 'wait', untilMs: next.until.getTime(), reason: next.reason };
    case 'fail':
      await settleByService(carriage, { kind: 'failed', error: { code: next.code }, settledBy: 'service' });
      return null;
    case 'late':
      await inScope(deps.infra.db, tenant(loaded.operation), (tx) => endLateOperation(tx, { operationId: loaded.operation.id, now, activityTimeoutMs: deps.infra.config.timing.activityTimeoutMs }));
      return null;
    case 'lost':
      await settleByService(carriage, lostRuling(carriage));
      return null;
    case 'resend':
      return resend(carriage, next.step);
    case 'step':
      return takeStep(carriage, next.step);
    default:
      return next satisfies never;
  }
}
