import type { EvidenceDraft } from '../../infra/ledger/settlement.ts';
import { scrub } from '../../infra/log/log.ts';
import type { Finding } from '../../providers/provider.ts';

/** What a read of the platform showed, as evidence. */
export function seenEvidence(finding: Finding, step: string | null, probeOrdinal: number | null): EvidenceDraft[] {
  const drafts: EvidenceDraft[] = finding.seen.map((seen) => ({
    kind: seen.kind, step, source: 'probe', conclusion: seen.conclusion, probeOrdinal, summary: seen.summary.slice(0, 300),
    data: JSON.parse(scrub(JSON.stringify(seen.data)).replaceAll('\\u0000', ' ').toWellFormed()) as Record<string, unknown>,
  }));
  if (finding.kind === 'unreadable') drafts.push(probeError({ httpStatus: finding.httpStatus, transportError: null, reason: finding.reason }, step, probeOrdinal));
  return drafts;
}

export function probeError(error: { httpStatus: number | null; transportError: string | null; reason: string }, step: string | null, probeOrdinal: number | null): EvidenceDraft {
  return {
    kind: 'probe_error', step, source: 'probe', conclusion: 'undetermined', probeOrdinal, summary: `The platform could not be read: ${error.reason}.`,
    data: { http_status: error.httpStatus, transport_error: error.transportError, reason: error.reason },
  };
}
