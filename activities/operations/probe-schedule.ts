import { PROBE_AFTER_MS, SANDBOX_PROBE_AFTER_MS } from '../../infra/contract/limits.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Mode } from '../../infra/contract/platforms.ts';

const JITTER = 0.1;

/** When the platform is read next of itself; null = the schedule has ended. */
export function nextProbeAt(work: { mode: Mode; provider: Pick<Provider, 'probeAfterMs'>; unknownSince: Date; now: Date }): Date | null {
  const live = work.provider.probeAfterMs ?? PROBE_AFTER_MS;
  const waits = work.mode === 'test' ? [...SANDBOX_PROBE_AFTER_MS, ...live.filter((ms) => ms > SANDBOX_PROBE_AFTER_MS.at(-1)!)] : live;
  const sinceMs = work.now.getTime() - work.unknownSince.getTime();
  const wait = waits.find((ms) => ms > sinceMs);
  if (wait === undefined) return null;
  const jitter = work.mode === 'test' ? 1 : 1 - JITTER + 2 * JITTER * Math.random();
  return new Date(Math.max(work.unknownSince.getTime() + wait * jitter, work.now.getTime() + 500));
}
