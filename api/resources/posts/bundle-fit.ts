import { BUNDLE_MAX_BYTES, BUNDLE_TEXT_MAX_CHARS } from '../../../infra/contract/limits.ts';
import { mapTexts } from '../../json/canonical.ts';

type Wire = Record<string, any>;

/** The lists of a bundle, each oldest first. */
export interface BundleLists {
  timeline: Wire[];
  operations: Wire[];
  requests: Wire[];
  events: Wire[];
}

export type Bundle = Wire & BundleLists;

const POLL_KINDS = new Set(['metrics_refreshed', 'paced', 'thread_waiting']);
const POLL_TYPES = new Set(['probe_scheduled', 'probe_started', 'probe_finished', 'paced']);
/** Shown beside what a bundle holds: `truncated` and `digest`. */
const MARKS_BYTES = 128;

/**
 * The bundle within its limit. What only repeats that nothing was new goes first, oldest first; should that not do, long
 * texts are cut, and at last the oldest of what is left is left out.
 */
export function fitBundle(bundle: Bundle): Bundle {
  if (excessOf(bundle) <= 0) return bundle;
  const fitted: Bundle = { ...withoutPolls(bundle), truncated: true };
  if (excessOf(fitted) <= 0) return fitted;
  const cut = mapTexts(fitted, (text) => (text.length > BUNDLE_TEXT_MAX_CHARS ? `${text.slice(0, BUNDLE_TEXT_MAX_CHARS).toWellFormed()}…` : text));
  for (const list of ['timeline', 'events', 'requests', 'operations'] as const) cut[list] = withoutOldest(cut[list], () => true, excessOf(cut));
  return cut;
}

/** Reads of the platform that told nothing, waits, and readings of metrics; as entries and as evidence. */
function withoutPolls(bundle: Bundle): Bundle {
  const timeline = withoutOldest(bundle.timeline, isPoll, excessOf(bundle));
  let excess = excessOf({ ...bundle, timeline });
  const operations = bundle.operations.map((operation) => {
    const evidence = withoutOldest(operation.evidence as Wire[], (one) => one.source === 'probe' && one.conclusion === 'undetermined', excess);
    excess -= bytesOf(operation.evidence) - bytesOf(evidence);
    return { ...operation, evidence };
  });
  return { ...bundle, timeline, operations };
}

function isPoll({ kind, data }: Wire): boolean {
  return kind === 'operation' ? POLL_TYPES.has(data.type) : POLL_KINDS.has(kind);
}

function withoutOldest(list: readonly Wire[], isSpare: (one: Wire) => boolean, excess: number): Wire[] {
  let rest = excess;
  return list.filter((one) => {
    if (rest <= 0 || !isSpare(one)) return true;
    rest -= bytesOf(one) + 1;
    return false;
  });
}

function excessOf(bundle: Wire): number {
  return bytesOf(bundle) + MARKS_BYTES - BUNDLE_MAX_BYTES;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
