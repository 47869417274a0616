import { RETRY_AFTER_HONOURED_MS } from '../../infra/contract/limits.ts';
import type { OutcomeCode } from '../../infra/contract/errors.ts';
import type { Answer, Finding, ProviderRefusal, Seen, StepAnswer } from '../provider.ts';

type Unreadable = Extract<Finding, { kind: 'unreadable' }>;

/** Statuses that refuse a call, when the platform's own error body says so. */
export const REFUSING = new Set([400, 403, 404, 405, 410, 413, 415, 422]);

export function isRecord(value: unknown): value is Record<string, any> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function refused(answer: Answer, code: OutcomeCode, more: Partial<ProviderRefusal> = {}): StepAnswer {
  return { kind: 'refused', error: { code, platformCode: null, platformMessage: null, ...more }, answer };
}

export function unclear(answer: Answer, missingProof: string | null = null): StepAnswer {
  return { kind: 'unclear', missingProof, answer };
}

/** A rate limit waits as told; a wait beyond what we honour is a used-up allowance. */
export function rateLimited(answer: Answer, resetAt: Date | null, more: Partial<ProviderRefusal> & { now: Date }): StepAnswer {
  const { now, ...error } = more;
  const until = retryAfter(answer, now) ?? resetAt;
  if (until === null) return { kind: 'wait', reason: 'rate_limited', afterMs: null, answer };
  const afterMs = Math.max(0, until.getTime() - now.getTime());
  if (afterMs > RETRY_AFTER_HONOURED_MS) return refused(answer, 'PLATFORM_QUOTA_EXCEEDED', { ...error, retryAt: until });
  return { kind: 'wait', reason: 'rate_limited', afterMs, answer };
}

/** `Retry-After` in seconds or as an HTTP date. */
export function retryAfter(answer: Answer, now: Date): Date | null {
  const text = answer.headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(text)) return new Date(now.getTime() + Number(text) * 1_000);
  const at = text === '' ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : new Date(at);
}

/** Why a read of the platform told nothing. */
export function unreadable(answer: Answer, seen: Seen[]): Unreadable {
  const { status } = answer;
  const reasons: Record<number, Unreadable['reason']> = { 401: 'token_expired', 403: 'permission', 429: 'rate_limited', 420: 'rate_limited' };
  const reason = status >= 200 && status < 300 ? 'malformed' : (reasons[status] ?? 'unavailable');
  return { kind: 'unreadable', reason, httpStatus: status, seen };
}

export function excerpt(text: string, most = 280): string {
  return [...text].slice(0, most).join('');
}
