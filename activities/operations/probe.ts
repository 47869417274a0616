import { SANDBOX_ABSENCE_AFTER_MS } from '../../infra/contract/limits.ts';
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../infra/db/database.ts';
import { OperationEntity, type Operation } from '../../infra/db/entities/operation.entity.ts';
import { noteOperation } from '../../infra/db/repositories/timeline.ts';
import { inScope, tenant } from '../../infra/db/tenant.ts';
import { TransportFailure } from '../../infra/http/types.ts';
import { isOurs } from '../../infra/ledger/proof.ts';
import { settle, writeEvidence } from '../../infra/ledger/settle.ts';
import type { EvidenceDraft, Ruling } from '../../infra/ledger/settlement.ts';
import type { Finding, PlannedStep, Provider } from '../../providers/provider.ts';
import type { ProbeResult } from '../../workflows/names.ts';
import type { ActivityDeps } from '../deps.ts';
import { load, lookingWork, planOf, type Loaded } from './load.ts';
import { plainPort } from './port.ts';
import { nextProbeAt } from './probe-schedule.ts';
import { probeError, seenEvidence } from './seen.ts';

/** After a negative verdict the platform is read twice more: a proof of success would beat the verdict. */
const SAFETY_PROBES_AFTER_MS = [3_600_000, 24 * 3_600_000];

/**
 * Reads the platform for what a lost answer may have done, when a read is due. Read-only on the platform; only a proof
 * settles. Dying in it loses a read, which is done again.
 */
export async function probeOperation(deps: ActivityDeps, { operationId }: { operationId: string }): Promise<ProbeResult> {
  const loaded = await load(deps, operationId);
  if (loaded === null) return { kind: 'settled', status: 'gone' };
  const { operation } = loaded;
  const now = deps.infra.clock.now();
  const open = operation.status === 'unknown' || (operation.status === 'failed' && operation.settledBy === 'verdict' && !!operation.nextProbeAt);
  if (!open) return { kind: 'settled', status: operation.status };
  if (!operation.nextProbeAt) return { kind: 'idle' };
  if (operation.nextProbeAt > now) return waitFor(operation, operation.nextProbeAt);
  if (loaded.account.status !== 'active' || loaded.credential === null) return postpone(deps, loaded);
  return look(deps, loaded);
}

async function look(deps: ActivityDeps, loaded: Loaded): Promise<ProbeResult> {
  const { operation } = loaded;
  const provider = deps.providers[operation.platform]!;
  const work = lookingWork(deps, loaded, new Map());
  const plan = planOf(provider, loaded, work);
  const name = operation.error?.step ?? operation.claimStep;
  const step = plan.find((one) => one.name === name) ?? plan.at(-1)!;
  const ordinal = operation.probeCount + 1;
  let finding: Finding | TransportFailure;
  try {
    finding = await provider.reconcile(step, work, operation.sentAt ?? operation.claimedAt ?? operation.createdAt, plainPort(deps, loaded, { operation, step: 'reconcile' }));
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    finding = error;
  }
  return conclude(deps, loaded, { provider, step, plan, finding, ordinal, absence: provider.absence(work) });
}

interface Look {
  provider: Provider;
  step: PlannedStep;
  plan: readonly PlannedStep[];
  finding: Finding | TransportFailure;
  ordinal: number;
  absence: { afterMs: number; reads: number } | null;
}

async function conclude(deps: ActivityDeps, loaded: Loaded, look: Look): Promise<ProbeResult> {
  const { infra } = deps;
  const { finding, step, ordinal } = look;
  const now = infra.clock.now();
  const evidence = finding instanceof TransportFailure ? [probeError({ httpStatus: null, transportError: finding.error, reason: 'unavailable' }, step.name, ordinal)] : seenEvidence(finding, step.name, ordinal);
  return inScope(infra.db, tenant(loaded.operation), async (tx) => {
    const operation = await tx.findOneOrFail(OperationEntity, { id: loaded.operation.id });
    noteOperation(tx, operation, probeNotes(look), now);
    const counted = countAbsence(loaded.operation, look, now);
    const ruling = rulingOf(loaded.operation, look, counted, now);
    if (ruling !== null && (await isOurs(tx, operation, ruling))) {
      const settled = await settle(tx, { operationId: operation.id, by: { kind: 'probe' }, ruling, evidence, step: { name: step.name, state: ruling.kind === 'succeeded' ? 'done' : 'refused', trip: null, httpStatus: null }, now }, infra.config.timing);
      return { kind: 'settled', status: settled.operation.status };
    }
    await keepLooking(tx, operation, { seen: loaded.operation, evidence, counted, ordinal, next: nextLook(loaded.operation, look.provider, now), now });
    return operation.status === 'unknown' || operation.nextProbeAt ? waitFor(operation, operation.nextProbeAt ?? null) : { kind: 'settled', status: operation.status };
  });
}

function waitFor(operation: Operation, at: Date | null): ProbeResult {
  return at === null ? { kind: 'idle' } : { kind: 'wait', untilMs: at.getTime(), isUnknown: operation.status === 'unknown' };
}

interface Absence {
  reads: number;
  since: Date | null;
}

/** Consecutive complete reads without it, and since when. Anything else breaks the chain. */
function countAbsence(operation: Operation, { finding }: Look, now: Date): Absence {
  if (finding instanceof TransportFailure || finding.kind !== 'not_there') return { reads: 0, since: null };
  return { reads: operation.absentReads + 1, since: operation.absentSince ?? now };
}

function rulingOf(operation: Operation, { finding, absence, plan, step }: Look, counted: Absence, now: Date): Ruling | null {
  if (finding instanceof TransportFailure) return null;
  if (finding.kind === 'found') {
    const remaining = plan.slice(plan.indexOf(step) + 1).some((one) => one.required && one.effect.startsWith('public'));
    return remaining ? { kind: 'failed', error: { code: 'STEPS_REMAINING', step: step.name } } : { kind: 'succeeded', proof: finding.proof };
  }
  if (operation.status !== 'unknown' || absence === null || counted.since === null) return null;
  const afterMs = operation.mode === 'test' ? SANDBOX_ABSENCE_AFTER_MS : absence.afterMs;
  const proven = counted.reads >= absence.reads && now.getTime() - counted.since.getTime() >= afterMs;
  return proven ? { kind: 'failed', error: { code: 'PROVIDER_PROVED_ABSENT', step: step.name } } : null;
}

/** The next automatic read. A requested one does not move the schedule. */
function nextLook(operation: Operation, provider: Provider, now: Date): Date | null {
  if (operation.status === 'unknown') return nextProbeAt({ mode: operation.mode, provider, unknownSince: operation.unknownSince!, now });
  const afterMs = SAFETY_PROBES_AFTER_MS.find((ms) => operation.settledAt!.getTime() + ms > now.getTime());
  return afterMs === undefined ? null : new Date(operation.settledAt!.getTime() + afterMs);
}

function probeNotes({ finding, ordinal }: Look) {
  const result = finding instanceof TransportFailure ? 'unreadable' : finding.kind;
  return [
    { type: 'probe_started', message: `Read ${ordinal} of the platform began.`, data: { ordinal } },
    { type: 'probe_finished', message: `Read ${ordinal} of the platform: ${result.replace('_', ' ')}.`, data: { ordinal, result } },
  ];
}

async function keepLooking(tx: Tx, operation: Operation, look: { seen: Operation; evidence: EvidenceDraft[]; counted: Absence; ordinal: number; next: Date | null; now: Date }): Promise<void> {
  await tx.refresh(operation, { lockMode: LockMode.PESSIMISTIC_WRITE });
  writeEvidence(tx, operation, look.evidence, look.now);
  Object.assign(operation, { probeCount: look.ordinal, lastProbeAt: look.now });
  // Settled while the platform was read: whoever settled it has said what is read next.
  if (operation.status !== look.seen.status || operation.settledBy !== look.seen.settledBy) return;
  Object.assign(operation, { absentReads: look.counted.reads, absentSince: look.counted.since, nextProbeAt: look.next, probing: operation.status !== 'unknown' ? 'none' : look.next === null ? 'exhausted' : 'active' });
}

/** Nothing is asked with a credential that is not in force; reads go on when the account is connected again. */
async function postpone(deps: ActivityDeps, loaded: Loaded): Promise<ProbeResult> {
  const now = deps.infra.clock.now();
  const provider = deps.providers[loaded.operation.platform]!;
  const next = nextLook(loaded.operation, provider, now);
  await inScope(deps.infra.db, tenant(loaded.operation), (tx) => tx.nativeUpdate(OperationEntity, { id: loaded.operation.id, status: loaded.operation.status }, { nextProbeAt: next, ...(loaded.operation.status === 'unknown' && next === null ? { probing: 'exhausted' } : {}) }));
  return waitFor(loaded.operation, next);
}
