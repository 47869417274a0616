import { inScope, tenant } from '../../infra/db/tenant.ts';
import { ClaimLost, TransportFailure } from '../../infra/http/types.ts';
import { claim } from '../../infra/ledger/claim.ts';
import { isPublic } from '../../infra/ledger/effects.ts';
import { accountWaits, checkpoint, forgetStep, recordWait, storeFacts } from '../../infra/ledger/progress.ts';
import { requireReconnect } from '../../infra/ledger/reconnect.ts';
import { settle } from '../../infra/ledger/settle.ts';
import type { EvidenceDraft, Ruling, StepReport } from '../../infra/ledger/settlement.ts';
import type { PlannedStep, PublishWork, StepAnswer } from '../../providers/provider.ts';
import type { CarryOutResult } from '../../workflows/names.ts';
import { settleByService, type Carriage } from './carriage.ts';
import { isDeciding } from './decide.ts';
import { publishWork } from './load.ts';
import { MediaUnusable, openMedia } from './open-media.ts';
import { answerEvidence, partialEvidence, progressEvidence, tripNotes } from './observations.ts';
import { plainPort, publicPort, type PublicTrip } from './port.ts';
import { nextProbeAt } from './probe-schedule.ts';
import { refreshCredential } from './refresh-credential.ts';
import { persistently } from './persistently.ts';
import { again, failureOf, notSent, ruleOnPublic, stillOpen, transportCode, unclear, waitRuling, type Circumstances } from './rule.ts';

const SANDBOX_RESEND_MS = 1_000;
const REFRESH_BUSY_MS = 1_000;
/** The refusal of a token proves that nothing was done, so one renewal is worth it; a second refusal is the answer. */
const REFRESHES_MAX = 1;

/** Carries out one step; null = look at the row again. */
export async function takeStep(carriage: Carriage, step: PlannedStep): Promise<CarryOutResult | null> {
  let work: PublishWork;
  const media = await mediaOf(carriage, step);
  if (media === 'failed') return null;
  work = { ...publishWork(carriage.deps, carriage.loaded, carriage.done), media: media.files };
  try {
    return await (isPublic(step.effect) ? sendPublic(carriage, step, work) : sendPlain(carriage, step, work));
  } finally {
    await media.close();
  }
}

async function mediaOf(carriage: Carriage, step: PlannedStep): Promise<Awaited<ReturnType<typeof openMedia>> | 'failed'> {
  try {
    return await openMedia(carriage, step);
  } catch (error) {
    if (!(error instanceof MediaUnusable)) throw error;
    await settleByService(carriage, { kind: 'failed', error: { code: error.code, step: step.name }, settledBy: 'service' });
    return 'failed';
  }
}

export function circumstancesOf({ deps, loaded, plan, provider }: Carriage, step: PlannedStep): Circumstances {
  const now = deps.infra.clock.now();
  const stored = loaded.steps.find((one) => one.name === step.name);
  return {
    step, deciding: isDeciding(step, plan), attempt: (stored?.attempt ?? 0) + 1, failuresInARow: loaded.operation.failuresInARow,
    firstSentAt: loaded.operation.claimedAt ?? now, pollingSince: stored?.startedAt ?? null,
    resendAfterMs: loaded.operation.mode === 'test' ? Math.min(SANDBOX_RESEND_MS, deps.infra.config.timing.keyedResendMs) : deps.infra.config.timing.keyedResendMs,
    probing: 'active', firstProbeAt: nextProbeAt({ mode: loaded.operation.mode, provider, unknownSince: now, now }), now,
  };
}

/** Claim, send and settle: what must not be torn apart. */
async function sendPublic(carriage: Carriage, step: PlannedStep, work: PublishWork): Promise<CarryOutResult | null> {
  const { deps, provider, loaded, plan, done } = carriage;
  const { db, clock, config } = deps.infra;
  const attempt = (loaded.steps.find((one) => one.name === step.name)?.attempt ?? 0) + 1;
  const { http, seen } = publicPort(deps, loaded, {
    step: step.name,
    claim: () => claim(db, { operation: loaded.operation, step: step.name, plan, done, now: clock.now(), deadline: new Date(clock.now().getTime() + config.timing.callDeadlineMs + config.timing.claimMarginMs), pace: loaded.pace }),
  });
  try {
    const answer = await provider.send(step, work, http);
    return await settleAnswer(carriage, { step, attempt, seen, answer });
  } catch (error) {
    if (error instanceof ClaimLost) return null;
    if (error instanceof TransportFailure) return settleFailure(carriage, { step, attempt, seen, error });
    // A fault of ours after the request may have left: the claim stays and its deadline decides.
    throw error;
  }
}

interface Exchanged {
  step: PlannedStep;
  attempt: number;
  seen: PublicTrip;
}

/** An earlier request of this keyed step may have done it: from here on only a success decides, whatever else is answered. */
function isOpen({ loaded }: Carriage, step: PlannedStep): boolean {
  return loaded.operation.status === 'sending' && loaded.steps.some((one) => one.name === step.name && one.state === 'sending');
}

const NOTHING_DONE: Ruling = { kind: 'not_done', wait: null, accountWaits: false };

async function settleAnswer(carriage: Carriage, exchanged: Exchanged & { answer: StepAnswer }): Promise<CarryOutResult | null> {
  const { step, attempt, seen, answer } = exchanged;
  const circumstances = circumstancesOf(carriage, step);
  const status = answer.kind === 'done' ? 200 : answer.answer.status;
  const open = isOpen(carriage, step);
  const renews = !open && (answer.kind === 'expired' || answer.kind === 'redo');
  const ruling = open && answer.kind !== 'done' ? stillOpen(answer, circumstances) : answer.kind === 'expired' || answer.kind === 'redo' ? NOTHING_DONE : ruleOnPublic(answer, circumstances);
  const evidence = answer.kind !== 'done' && (open || answer.kind === 'unclear') ? [progressEvidence(step.name, seen.trip!, null), answerEvidence(step.name, answer.answer, answer.kind === 'unclear' ? answer.missingProof : null)] : [];
  const finished = answer.kind === 'done' ? { finished: { checkpoint: answer.checkpoint, providerId: answer.providerId, finishedAt: circumstances.now, usableUntil: null } } : {};
  const settled = await settleAs(carriage, exchanged, { ruling, evidence, status, finished, notes: tripNotes(step.name, attempt, seen.trip, { answered: status }) });
  if (open && answer.kind === 'expired') await refreshCredential(carriage.deps, carriage.loaded, carriage.provider);
  if (!renews) return settled;
  // The claim is given back before anything slow: what the answer proved must not be lost with it.
  return waitAgain(carriage, step, answer.kind === 'expired' ? await afterExpiry(carriage, answer, step) : await redo(carriage, answer, step));
}

async function settleFailure(carriage: Carriage, exchanged: Exchanged & { error: TransportFailure }): Promise<CarryOutResult | null> {
  const { step, attempt, seen, error } = exchanged;
  const circumstances = circumstancesOf(carriage, step);
  if (seen.token === null) return waitAgain(carriage, step, notSent(error, circumstances));
  const isUnclear = error.sent || isOpen(carriage, step);
  const ruling = isUnclear ? unclear({ code: transportCode(error), httpStatus: error.partial?.status ?? null }, circumstances) : notSent(error, circumstances);
  const evidence = isUnclear ? [progressEvidence(step.name, error.trip, error.error), ...(error.partial ? [partialEvidence(step.name, error.partial, error.error)] : [])] : [];
  return settleAs(carriage, exchanged, { ruling, evidence, status: error.partial?.status ?? null, finished: {}, notes: tripNotes(step.name, attempt, error.trip, { silence: error }) });
}

const STEP_STATE: Record<Ruling['kind'], StepReport['state']> = { succeeded: 'done', checkpoint: 'done', failed: 'refused', unknown: 'unknown', not_done: 'pending', resend: 'sending' };

async function settleAs(carriage: Carriage, { step, seen }: Exchanged, outcome: { ruling: Ruling; evidence: EvidenceDraft[]; status: number | null; finished: Partial<StepReport>; notes: ReturnType<typeof tripNotes> }): Promise<CarryOutResult | null> {
  const { deps, loaded, done } = carriage;
  const { db, clock, config } = deps.infra;
  const { ruling } = outcome;
  const { operation } = await persistently(config.timing.claimMarginMs, () => inScope(db, tenant(loaded.operation), (tx) =>
    settle(tx, {
      operationId: loaded.operation.id, by: { kind: 'sender', token: seen.token! }, ruling, done, evidence: outcome.evidence, notes: outcome.notes,
      step: { name: step.name, state: STEP_STATE[ruling.kind], trip: seen.trip, httpStatus: outcome.status, ...outcome.finished },
      requestDigest: seen.digest, now: clock.now(),
    }, config.timing)));
  if (ruling.kind === 'not_done' && ruling.accountWaits && ruling.wait) await accountWaits(db, loaded.account, ruling.wait.until);
  if (ruling.kind === 'failed' && (ruling.error.code === 'TOKEN_REVOKED' || ruling.error.code === 'TOKEN_EXPIRED')) await reconnect(carriage, ruling.error.code);
  // Settled in this very transaction: no need to read the row once more.
  const isSettled = operation.status === 'succeeded' || operation.status === 'failed' || operation.status === 'unknown';
  return isSettled ? { kind: 'settled', status: operation.status } : null;
}

async function sendPlain(carriage: Carriage, step: PlannedStep, work: PublishWork): Promise<CarryOutResult | null> {
  const { deps, provider, loaded } = carriage;
  const http = plainPort(deps, loaded, { operation: loaded.operation, step: step.name });
  let answer: StepAnswer;
  try {
    answer = await provider.send(step, work, http);
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    const circumstances = circumstancesOf(carriage, step);
    return waitAgain(carriage, step, error.sent ? again('PLATFORM_UNAVAILABLE', circumstances) : notSent(error, circumstances));
  }
  return answerPlain(carriage, step, answer);
}

async function answerPlain(carriage: Carriage, step: PlannedStep, answer: StepAnswer): Promise<CarryOutResult | null> {
  const { deps, loaded, plan, done } = carriage;
  const circumstances = circumstancesOf(carriage, step);
  const { now } = circumstances;
  switch (answer.kind) {
    case 'done':
      done.set(step.name, { checkpoint: answer.checkpoint, providerId: answer.providerId, finishedAt: now, usableUntil: step.lifetimeMs === undefined ? null : new Date(now.getTime() + step.lifetimeMs) });
      if (answer.facts) await storeFacts(deps.infra.db, loaded.account, answer.facts, now);
      // A read is done again after a crash; a private result is worth a commit of its own.
      if (step.effect === 'private') await checkpoint(deps.infra.db, loaded.operation, { plan, done, now });
      return null;
    case 'refused':
      await settleByService(carriage, { kind: 'failed', error: failureOf(answer.error, step.name, answer.answer.status), settledBy: 'answer' });
      return null;
    case 'wait': {
      const ruling = waitRuling(answer, circumstances);
      if (ruling.kind === 'not_done' && ruling.accountWaits && ruling.wait) await accountWaits(deps.infra.db, loaded.account, ruling.wait.until);
      return waitAgain(carriage, step, ruling);
    }
    case 'expired':
      return waitAgain(carriage, step, await afterExpiry(carriage, answer, step));
    case 'redo':
      return waitAgain(carriage, step, await redo(carriage, answer, step));
    case 'unclear':
      return waitAgain(carriage, step, again('PLATFORM_UNAVAILABLE', circumstances));
    default:
      return answer satisfies never;
  }
}

/** Nothing was claimed: the wait is recorded, or the operation ends without anything sent. */
async function waitAgain(carriage: Carriage, step: PlannedStep, ruling: Ruling): Promise<CarryOutResult | null> {
  const { deps, loaded } = carriage;
  if (ruling.kind !== 'not_done') {
    await settleByService(carriage, ruling);
    return null;
  }
  if (ruling.wait === null) return null;
  const { wait } = ruling;
  await recordWait(deps.infra.db, loaded.operation, { ...wait, step: { name: step.name, plan: carriage.plan }, reason: `${step.name} (${wait.heldBy ?? 'again'})`, countsAsFailure: true, now: deps.infra.clock.now() });
  return { kind: 'wait', untilMs: wait.until.getTime(), reason: wait.heldBy ?? 'again' };
}

/** The platform refused the token: one renewal, then the same step again. */
async function afterExpiry(carriage: Carriage, answer: Extract<StepAnswer, { kind: 'expired' }>, step: PlannedStep): Promise<Ruling> {
  const { deps, loaded, provider } = carriage;
  const circumstances = circumstancesOf(carriage, step);
  const refused: Ruling = { kind: 'failed', error: failureOf(answer.error, step.name, answer.answer.status), settledBy: 'answer' };
  if (loaded.operation.refreshes >= REFRESHES_MAX) {
    await reconnect(carriage, answer.error.code);
    return refused;
  }
  const refreshed = await refreshCredential(deps, loaded, provider);
  if (refreshed === 'refused') return refused;
  if (refreshed === 'fresh') await inScope(deps.infra.db, tenant(loaded.operation), (tx) => tx.execute('update operation set refreshes = refreshes + 1 where id = ?', [loaded.operation.id]));
  if (refreshed === 'busy') return { kind: 'not_done', wait: { for: null, until: new Date(circumstances.now.getTime() + REFRESH_BUSY_MS), heldBy: 'TOKEN_EXPIRED' }, accountWaits: false };
  return refreshed === 'fresh' ? { kind: 'not_done', wait: null, accountWaits: false } : again('TOKEN_EXPIRED', circumstances);
}

/** Results of private steps are gone on the platform: they are made anew once; a second time it is a refusal. */
async function redo({ deps, loaded, done, plan }: Carriage, answer: Extract<StepAnswer, { kind: 'redo' }>, step: PlannedStep): Promise<Ruling> {
  const madeTwice = loaded.steps.some((one) => answer.steps.includes(one.name) && one.attempt > 1);
  if (madeTwice) return { kind: 'failed', error: failureOf(answer.error, step.name, answer.answer.status), settledBy: 'answer' };
  // What came after a lost upload was about that upload: it is waited for and described anew too.
  const first = plan.findIndex((one) => answer.steps.includes(one.name));
  for (const { name } of plan.slice(Math.max(first, 0)).filter((one) => !isPublic(one.effect))) {
    done.delete(name);
    await forgetStep(deps.infra.db, loaded.operation, name);
  }
  return { kind: 'not_done', wait: null, accountWaits: false };
}

async function reconnect({ deps, loaded }: Carriage, code: string): Promise<void> {
  const reason = code === 'TOKEN_REVOKED' ? 'token_revoked' : 'token_expired';
  await inScope(deps.infra.db, tenant(loaded.account), (tx) => requireReconnect(tx, loaded.account.id, { reason, generation: loaded.credential!.generation, now: deps.infra.clock.now() }));
}

