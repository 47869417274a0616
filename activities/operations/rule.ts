import { AGAIN_AFTER_MS, KEYED_SENDS_MAX, PROVIDER_TEXT_MAX_CHARS, RATE_LIMIT_AFTER_MS, RETRY_AFTER_HONOURED_MS } from '../../infra/contract/limits.ts';
import type { OutcomeCode } from '../../infra/contract/errors.ts';
import { storable } from '../../infra/log/storable.ts';
import { GuardRefusal, TransportFailure } from '../../infra/http/types.ts';
import type { Failure, Ruling } from '../../infra/ledger/settlement.ts';
import type { PlannedStep, ProviderRefusal, StepAnswer } from '../../providers/provider.ts';

/** What a request's end means, from what was observed and nothing else. */
export interface Circumstances {
  step: PlannedStep;
  deciding: boolean;
  /** Requests begun for this step so far, this one included. */
  attempt: number;
  failuresInARow: number;
  /** Start of the first request of this step. */
  firstSentAt: Date;
  /** When this step was first asked for, where it is asked again and again. */
  pollingSince: Date | null;
  resendAfterMs: number;
  probing: 'active' | 'unavailable';
  firstProbeAt: Date | null;
  now: Date;
}

export function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

/** No byte of the request left: the same request may be sent again, after a while. */
export function notSent(error: unknown, circumstances: Circumstances): Ruling {
  if (error instanceof GuardRefusal && error.rule !== 'not_the_sandbox') return { kind: 'failed', error: { code: 'PROVIDER_UNREACHABLE', step: circumstances.step.name }, settledBy: 'service' };
  return again('PROVIDER_UNREACHABLE', circumstances);
}

export function again(heldBy: OutcomeCode, { failuresInARow, now }: Circumstances): Ruling {
  const afterMs = AGAIN_AFTER_MS[Math.min(failuresInARow, AGAIN_AFTER_MS.length - 1)]!;
  return { kind: 'not_done', wait: { for: null, until: later(now, afterMs), heldBy }, accountWaits: false };
}

/** A public request left and no decisive answer came. */
export function unclear(failure: Failure, circumstances: Circumstances): Ruling {
  const { step, attempt, firstSentAt, resendAfterMs, probing, firstProbeAt, now } = circumstances;
  const inWindow = step.key !== undefined && attempt < KEYED_SENDS_MAX && now.getTime() + resendAfterMs - firstSentAt.getTime() < step.key.windowMs;
  if (step.effect === 'public_keyed' && inWindow) return { kind: 'resend', at: later(now, resendAfterMs) };
  return { kind: 'unknown', error: { ...failure, step: step.name }, probing, nextProbeAt: firstProbeAt };
}

/** The ruling on a public step's answer, where no credential and no earlier step has to be renewed first. */
export function ruleOnPublic(answer: Exclude<StepAnswer, { kind: 'expired' | 'redo' }>, circumstances: Circumstances): Ruling {
  const { step, deciding } = circumstances;
  switch (answer.kind) {
    case 'done':
      if (!deciding) return { kind: 'checkpoint' };
      return answer.proof ? { kind: 'succeeded', proof: answer.proof } : unclear({ code: 'PROVIDER_RESPONSE_INVALID' }, circumstances);
    case 'refused':
      return { kind: 'failed', error: failureOf(answer.error, step.name, answer.answer.status) };
    case 'wait':
      return waitRuling(answer, circumstances);
    case 'unclear':
      return unclear({ code: answer.answer.status >= 200 && answer.answer.status < 300 ? 'PROVIDER_RESPONSE_INVALID' : 'PROVIDER_OUTCOME_UNKNOWN', httpStatus: answer.answer.status }, circumstances);
    default:
      return answer satisfies never;
  }
}

/** The answer of a repetition says nothing of the first request: the key is tried again, or nobody knows. */
export function stillOpen(answer: Exclude<StepAnswer, { kind: 'done' }>, circumstances: Circumstances): Ruling {
  const waitMs = answer.kind === 'wait' ? (answer.afterMs ?? 0) : 0;
  return unclear({ code: 'PROVIDER_OUTCOME_UNKNOWN', httpStatus: answer.answer.status }, { ...circumstances, resendAfterMs: Math.max(circumstances.resendAfterMs, waitMs) });
}

/** A documented answer that asks for time: as told up to six hours, else the allowance is used up. */
export function waitRuling(answer: Extract<StepAnswer, { kind: 'wait' }>, circumstances: Circumstances): Ruling {
  const { now, failuresInARow, step, pollingSince } = circumstances;
  const waits = answer.reason === 'processing' && step.poll ? step.poll.afterMs : RATE_LIMIT_AFTER_MS;
  const afterMs = answer.afterMs ?? waits[Math.min(failuresInARow, waits.length - 1)]!;
  if (answer.reason === 'processing' && step.poll && pollingSince && now.getTime() - pollingSince.getTime() > step.poll.withinMs) {
    return { kind: 'failed', error: { code: 'MEDIA_PROCESSING_FAILED', step: step.name, httpStatus: answer.answer.status }, settledBy: 'answer' };
  }
  if (afterMs > RETRY_AFTER_HONOURED_MS) return { kind: 'failed', error: { code: 'PLATFORM_QUOTA_EXCEEDED', step: step.name, retryAt: later(now, afterMs), httpStatus: answer.answer.status } };
  const limited = answer.reason === 'rate_limited';
  return {
    kind: 'not_done',
    wait: { for: limited ? 'provider_wait' : 'provider_processing', until: later(now, afterMs), heldBy: limited ? 'RATE_LIMITED' : 'MEDIA_PROCESSING_FAILED' },
    accountWaits: limited,
  };
}

export function failureOf(refusal: ProviderRefusal, step: string, httpStatus: number): Failure {
  return { code: refusal.code, platformCode: storable(refusal.platformCode, 128), platformMessage: storable(refusal.platformMessage, PROVIDER_TEXT_MAX_CHARS), httpStatus, step, retryAt: refusal.retryAt ?? null };
}

export function transportCode(failure: TransportFailure): OutcomeCode {
  const invalid = failure.error === 'too_large' || failure.error === 'malformed';
  return invalid ? 'PROVIDER_RESPONSE_INVALID' : 'PROVIDER_OUTCOME_UNKNOWN';
}
