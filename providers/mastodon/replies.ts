import type { OutcomeCode } from '../../infra/contract/errors.ts';
import { isRecord, rateLimited, refused, REFUSING, unclear } from '../common/answers.ts';
import type { Answer, StepAnswer } from '../provider.ts';

export interface Expectation {
  now: Date;
  /** The status answered or quoted can be what a 404 means. */
  refersTo?: boolean;
  /** Of a media upload: what the server refuses is the file. */
  file?: boolean;
  /** Of the publish step: the uploads that refused attachments send back to. */
  uploads?: readonly string[];
}

export const PUBLISH_PROOF = '200 with id and url';

/** POST /api/v1/statuses */
export function readPublished(answer: Answer, expectation: Expectation): { id: string; url: string } | StepAnswer {
  const { id, url } = isRecord(answer.json) ? answer.json : {};
  if (answer.status === 200 && typeof id === 'string' && id !== '' && isWebUrl(url)) return { id, url };
  if (answer.status >= 200 && answer.status < 300) return unclear(answer, PUBLISH_PROOF);
  return readRefusal(answer, expectation);
}

/** Every answer that is no success. A 500 is no refusal: some versions answer so to a repetition that they recognised. */
export function readRefusal(answer: Answer, expectation: Expectation): StepAnswer {
  const { status } = answer;
  const complaint = complaintOf(answer);
  if (status === 429) return readRateLimit(answer, complaint, expectation);
  if (complaint === null) return unclear(answer);
  const error = { platformCode: String(status), platformMessage: complaint };
  if (status === 401) return { kind: 'expired', error: { code: 'TOKEN_REVOKED', ...error }, answer };
  if (!REFUSING.has(status)) return unclear(answer);
  const words = complaint.toLowerCase();
  if (status === 422 && /have not finished processing|not finished processing|try again in a moment/.test(words)) return { kind: 'wait', reason: 'processing', afterMs: null, answer };
  const code = codeOf(status, words, expectation);
  if (code === 'MEDIA_REJECTED' && /not found|already (?:been )?(?:used|attached)|invalid media/.test(words) && (expectation.uploads?.length ?? 0) > 0) {
    return { kind: 'redo', steps: expectation.uploads ?? [], error: { code, ...error }, answer };
  }
  return refused(answer, code, error);
}

function codeOf(status: number, words: string, { refersTo, file }: Expectation): OutcomeCode {
  if (status === 403) return /suspended|limited|disabled|frozen|pending|not confirmed|moved/.test(words) ? 'ACCOUNT_RESTRICTED' : 'PERMISSION_MISSING';
  if (status === 404 || status === 410) return refersTo === true ? 'OBJECT_NOT_FOUND' : 'PROVIDER_REJECTED';
  if (file === true) return 'MEDIA_REJECTED';
  if (status !== 422 && status !== 400) return 'PROVIDER_REJECTED';
  if (/character limit|too long|text character|exceeds? .*characters/.test(words)) return 'CONTENT_TOO_LONG';
  if (/media|attach|video|image|file/.test(words)) return 'MEDIA_REJECTED';
  return 'CONTENT_REJECTED';
}

function readRateLimit(answer: Answer, complaint: string | null, { now }: Expectation): StepAnswer {
  const at = Date.parse(answer.headers['x-ratelimit-reset'] ?? '');
  const resetAt = Number.isNaN(at) ? null : new Date(at);
  // A page of somebody in between has neither; it proves nothing about the call.
  if (complaint === null && resetAt === null) return unclear(answer);
  return rateLimited(answer, resetAt, { platformCode: '429', platformMessage: complaint, now });
}

/** `{error, error_description?, details?}`; null = not the platform's error body. */
export function complaintOf({ json }: Answer): string | null {
  if (!isRecord(json) || typeof json['error'] !== 'string') return null;
  const description: unknown = json['error_description'];
  return typeof description === 'string' ? `${json['error']}: ${description}` : json['error'];
}

export function isWebUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
}

/** A stated rule about the file will hold next time too; anything else may work on a second try. */
export function processingCode(words: string): 'MEDIA_REJECTED' | 'MEDIA_PROCESSING_FAILED' {
  return /type|format|codec|dimension|resolution|too (?:large|big|long)|frame rate|size|unsupported|not supported/i.test(words) ? 'MEDIA_REJECTED' : 'MEDIA_PROCESSING_FAILED';
}
