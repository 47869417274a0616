import type { Trip } from '../http/types.ts';
import type { OutcomeCode } from '../contract/errors.ts';
import type { SettledBy, WaitingFor } from '../contract/statuses.ts';
import type { Note } from '../db/repositories/timeline.ts';
import type { FinishedStep } from './claim.ts';

/** What was found out about an operation, in the words that the ledger understands. */
export interface Settlement {
  operationId: string;
  /** Who says so. A sender names the claim it held; its word counts only for that claim. */
  by: { kind: 'sender'; token: string } | { kind: 'probe' } | { kind: 'verdict' } | { kind: 'sweeper' } | { kind: 'service' };
  ruling: Ruling;
  step?: StepReport;
  /** Finished steps whose results were not stored yet. */
  done?: ReadonlyMap<string, FinishedStep>;
  evidence?: EvidenceDraft[];
  notes?: Note[];
  requestDigest?: string | null;
  /** Of a person's decision: named in the event that tells of it. */
  verdictId?: string;
  now: Date;
}

export type Ruling =
  | { kind: 'succeeded'; proof: { platformPostId: string | null; url: string | null } }
  | { kind: 'failed'; error: Failure; settledBy?: SettledBy }
  | { kind: 'unknown'; error: Failure; probing: 'active' | 'unavailable'; nextProbeAt: Date | null }
  /** Proven that nothing was done: the claim is given back. */
  | { kind: 'not_done'; wait: { for: WaitingFor | null; until: Date; heldBy: OutcomeCode | null } | null; accountWaits: boolean }
  /** A keyed answer was lost: the claim is kept until the key is sent again. */
  | { kind: 'resend'; at: Date }
  /** A public step is done and more public steps are to come. */
  | { kind: 'checkpoint' };

export interface Failure {
  code: OutcomeCode;
  platformCode?: string | null;
  platformMessage?: string | null;
  httpStatus?: number | null;
  step?: string | null;
  retryAt?: Date | null;
}

export interface StepReport {
  name: string;
  state: 'pending' | 'sending' | 'done' | 'refused' | 'unknown';
  trip: Trip | null;
  httpStatus: number | null;
  finished?: FinishedStep;
}

export interface EvidenceDraft {
  kind: string;
  step: string | null;
  source: 'sender' | 'probe' | 'operator';
  conclusion: 'happened' | 'did_not_happen' | 'undetermined';
  probeOrdinal?: number | null;
  summary: string;
  data: Record<string, unknown>;
}
