import type { OutcomeCode } from '../../infra/contract/errors.ts';
import { isRecord, rateLimited, refused, REFUSING, unclear } from '../common/answers.ts';
import type { Answer, ProviderRefusal, StepAnswer } from '../provider.ts';

/** What a step needs to know about its own answer. */
export interface Expectation {
  now: Date;
  /** Of a media upload: what the platform refuses is the file. */
  file?: boolean;
  /** Of the publish step: the uploads that a refused media id sends back to. */
  uploads?: readonly string[];
}

/** What the platform says in words, from any of its documented error bodies; null = this is none of them. */
export interface Complaint {
  platformCode: string | null;
  platformMessage: string | null;
  /** Everything that tells errors apart: type, title, detail, messages, codes. */
  words: string;
}

export const PUBLISH_PROOF = '201 with data.id';

/** POST /2/tweets. An `errors` list beside the id changes nothing: the post exists. */
export function readPublished(answer: Answer, expectation: Expectation): { id: string } | StepAnswer {
  const id: unknown = answer.json?.data?.id;
  if (answer.status === 201 && typeof id === 'string' && /^[0-9]+$/.test(id)) return { id };
  if (answer.status >= 200 && answer.status < 300) return unclear(answer, PUBLISH_PROOF);
  return readRefusal(answer, expectation);
}

/** Every answer that is no success. Table of 36.3; what it does not name is no proof of anything. */
export function readRefusal(answer: Answer, expectation: Expectation): StepAnswer {
  const { status } = answer;
  const complaint = complaintOf(answer);
  if (status === 429) return readRateLimit(answer, complaint, expectation);
  if (complaint === null) return unclear(answer);
  const error = { platformCode: complaint.platformCode, platformMessage: complaint.platformMessage };
  if (status === 401) return { kind: 'expired', error: { code: 'TOKEN_EXPIRED', ...error }, answer };
  if (status === 402) return refused(answer, 'PLATFORM_QUOTA_EXCEEDED', error);
  if (!REFUSING.has(status)) return unclear(answer);
  const code = codeOf(status, complaint.words, expectation);
  if (code === 'MEDIA_REJECTED' && (expectation.uploads?.length ?? 0) > 0) {
    return { kind: 'redo', steps: expectation.uploads ?? [], error: { code, ...error }, answer };
  }
  return refused(answer, code, error);
}

function codeOf(status: number, words: string, { file }: Expectation): OutcomeCode {
  if (status === 403) return forbiddenCode(words);
  if (/code:186\b|too long|exceeds? .*(?:length|characters)/.test(words)) return 'CONTENT_TOO_LONG';
  if (status === 404) return 'OBJECT_NOT_FOUND';
  if (file === true && [400, 413, 415, 422].includes(status)) return 'MEDIA_REJECTED';
  if (status === 400 && /media[_ ]?ids?\b.*(?:invalid|expired|not found)|(?:invalid|expired) media/.test(words)) return 'MEDIA_REJECTED';
  return 'PROVIDER_REJECTED';
}

function forbiddenCode(words: string): OutcomeCode {
  if (/duplicate content|code:187\b/.test(words)) return 'DUPLICATE_CONTENT';
  if (/suspended|code:64\b|locked|code:326\b/.test(words)) return 'ACCOUNT_RESTRICTED';
  if (/client-(?:forbidden|not-enrolled)|not[- ]permitted|not[- ]authorized|oauth|scope|unsupported[- ]authentication|access level/.test(words)) return 'PERMISSION_MISSING';
  if (/repl(?:y|ies)\b.*\bnot\b|\bnot\b.*\brepl(?:y|ies)\b|\bquot(?:e|es|ed|ing)\b/.test(words)) return 'PERMISSION_MISSING';
  return 'CONTENT_REJECTED';
}

function readRateLimit(answer: Answer, complaint: Complaint | null, { now }: Expectation): StepAnswer {
  const reset = Number(answer.headers['x-rate-limit-reset']);
  const resetAt = Number.isFinite(reset) && reset > 0 ? new Date(reset * 1_000) : null;
  // A page of somebody in between has neither; it proves nothing about the call.
  if (complaint === null && resetAt === null) return unclear(answer);
  const error = { platformCode: complaint?.platformCode ?? null, platformMessage: complaint?.platformMessage ?? null };
  if (/usage-capped|usagecap|monthly/.test(complaint?.words ?? '')) return refused(answer, 'PLATFORM_QUOTA_EXCEEDED', { ...error, retryAt: resetAt });
  return rateLimited(answer, resetAt, { ...error, now });
}

/** A problem (`title`, `detail`, `type`), a list of `errors`, or both. */
export function complaintOf({ json }: Answer): Complaint | null {
  if (!isRecord(json)) return null;
  const errors: Record<string, any>[] = Array.isArray(json['errors']) ? json['errors'].filter(isRecord) : [];
  const all = [json, ...errors];
  const fields: unknown[] = all.flatMap((one) => [one['type'], one['title'], one['detail'], one['reason'], one['message']]);
  const codes = all.map((one) => one['code']).filter((code) => typeof code === 'string' || typeof code === 'number');
  const words = [...fields.filter((field) => typeof field === 'string'), ...codes.map((code) => `code:${code}`)];
  if (words.length === 0) return null;
  const message = [json['detail'], errors[0]?.['message'], errors[0]?.['detail'], json['title']].find((field) => typeof field === 'string');
  return { platformCode: platformCodeOf(json, errors), platformMessage: message ?? null, words: words.join(' ').toLowerCase() };
}

function platformCodeOf(json: Record<string, any>, errors: Record<string, any>[]): string | null {
  const code: unknown = errors.find((one) => one['code'] !== undefined)?.['code'];
  if (typeof code === 'number' || typeof code === 'string') return String(code);
  const type: unknown = json['type'];
  if (typeof type === 'string' && type !== 'about:blank') return type.split('/').at(-1) ?? null;
  return typeof json['title'] === 'string' ? json['title'] : null;
}

/** `processing_info` of FINALIZE and STATUS. */
export type Processing = { state: 'ready' } | { state: 'working'; afterMs: number | null } | { state: 'failed'; error: ProviderRefusal };

const CHECK_AFTER_SECONDS = { least: 1, most: 30 };

export function processingOf(media: Record<string, any>): Processing {
  const info: unknown = media['processing_info'];
  if (!isRecord(info) || info['state'] === 'succeeded') return { state: 'ready' };
  if (info['state'] === 'failed') return { state: 'failed', error: processingError(isRecord(info['error']) ? info['error'] : {}) };
  const seconds = Number(info['check_after_secs']);
  const { least, most } = CHECK_AFTER_SECONDS;
  return { state: 'working', afterMs: Number.isFinite(seconds) ? Math.min(most, Math.max(least, seconds)) * 1_000 : null };
}

/** A stated rule about type or length will hold next time too; anything else may work on a second try. */
function processingError(error: Record<string, any>): ProviderRefusal {
  const message = typeof error['message'] === 'string' ? error['message'] : null;
  const name = typeof error['name'] === 'string' ? error['name'] : null;
  const stated = /type|format|codec|duration|length|too (?:long|short|large|big)|size|resolution|dimension/i.test(`${name ?? ''} ${message ?? ''}`);
  const code = error['code'] === undefined ? name : String(error['code']);
  return { code: stated ? 'MEDIA_REJECTED' : 'MEDIA_PROCESSING_FAILED', platformCode: code, platformMessage: message };
}
