import { PROVIDER_TEXT_MAX_CHARS } from '../../infra/contract/limits.ts';
import type { Answer, PartialAnswer, TransportFailure, Trip } from '../../infra/http/types.ts';
import type { EvidenceDraft } from '../../infra/ledger/settlement.ts';
import type { Note } from '../../infra/db/repositories/timeline.ts';
import { scrub } from '../../infra/log/log.ts';

/** What was seen of one public request, as evidence and as timeline. */
export function progressEvidence(step: string, trip: Trip, transportError: string | null): EvidenceDraft {
  return {
    kind: 'request_progress', step, source: 'sender', conclusion: 'undetermined',
    summary: transportError === null ? `The request was ${trip.progress}.` : `The exchange ended with ${transportError} after ${trip.progress}.`,
    data: {
      progress: trip.progress, connected_at: iso(trip.connectedAt), headers_sent_at: iso(trip.headersSentAt), body_sent_at: iso(trip.bodySentAt),
      answer_started_at: iso(trip.answerStartedAt), bytes_sent: trip.bytesSent ?? 0, bytes_received: trip.bytesReceived ?? 0, transport_error: transportError,
    },
  };
}

export function answerEvidence(step: string, answer: Answer, missingProof: string | null): EvidenceDraft {
  return {
    kind: 'platform_answer', step, source: 'sender', conclusion: 'undetermined', summary: `The platform answered ${answer.status} without ${missingProof ?? 'a documented meaning'}.`.slice(0, 300),
    data: { http_status: answer.status, content_type: answer.contentType, bytes: answer.body.length, truncated: false, platform_request_id: requestId(answer), excerpt: excerpt(answer.body), missing_proof: missingProof },
  };
}

export function partialEvidence(step: string, partial: PartialAnswer, error: string): EvidenceDraft {
  return {
    kind: 'platform_answer', step, source: 'sender', conclusion: 'undetermined', summary: `A part of an answer with status ${partial.status} came; then ${error}.`,
    data: { http_status: partial.status, content_type: partial.contentType, bytes: partial.excerpt.length, truncated: true, platform_request_id: null, excerpt: excerpt(partial.excerpt), missing_proof: 'a complete answer' },
  };
}

export function tripNotes(step: string, attempt: number, trip: Trip | null, ending: { answered: number } | { silence: TransportFailure }): Note[] {
  if (trip === null) return [];
  const notes: Note[] = [{ type: 'claimed', message: `The right to send ${step} was taken.`, step, attempt, at: trip.connectedAt ?? undefined }];
  if (trip.connectedAt) notes.push({ type: 'connected', message: 'The connection was open before the claim.', step, attempt, at: trip.connectedAt });
  if (trip.headersSentAt) notes.push({ type: 'bytes_sent', message: 'The request was sent.', step, attempt, at: trip.headersSentAt, data: { bytes: trip.bytesSent ?? 0 } });
  if ('answered' in ending) notes.push({ type: 'answered', message: `The platform answered ${ending.answered}.`, step, attempt, at: trip.answeredAt ?? undefined, data: { http_status: ending.answered } });
  else if (ending.silence.sent) notes.push({ type: 'silence', message: `No complete answer came: ${ending.silence.error}.`, step, attempt, data: { transport_error: ending.silence.error } });
  else notes.push({ type: 'not_sent', message: `No byte of the request left: ${ending.silence.error}.`, step, attempt, data: { transport_error: ending.silence.error } });
  return notes;
}

function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}

function requestId(answer: Answer): string | null {
  return answer.headers['x-request-id'] ?? answer.headers['x-transaction-id'] ?? null;
}

/** At most 4096 characters, without what looks like a secret, and storable as text. */
function excerpt(body: Buffer): string {
  return scrub(body.subarray(0, PROVIDER_TEXT_MAX_CHARS).toString('utf8').replaceAll('\0', ' ')).slice(0, PROVIDER_TEXT_MAX_CHARS);
}
