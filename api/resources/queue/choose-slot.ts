import { AUTO_ALTERNATIVES_SHOWN_MAX, AUTO_SKIPPED_SHOWN_MAX } from '../../../infra/contract/limits.ts';
import type { Tx } from '../../../infra/db/database.ts';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import type { AutoSchedule } from '../../../infra/db/entities/post.entity.ts';
import type { QueueSchedule } from '../../../infra/db/entities/queue-schedule.entity.ts';
import { lockPlacing } from '../../../infra/db/repositories/busy-times.ts';
import { findFollowed, lockFollowed } from '../../../infra/db/repositories/queue-schedules.ts';
import { NO_HISTORY } from './engagement.ts';
import { readBlockers } from './load.ts';
import { minimumGapSeconds } from './pacing.ts';
import { bestFirst, weigh, type Weighed, type WeighedSlot } from './weigh.ts';
import { localTime } from './weekly-times.ts';

/** A post that is to be published at the best time there is. */
export interface SlotRequest {
  accounts: readonly Account[];
  workspaceId: string | null;
  /** Of the post; null = it names none. */
  timezone: string | null;
  now: Date;
  /** A post that is placed anew: its own old slot is free. */
  exceptPostId?: string;
  /** Whether the slot will be taken, so that nobody else may choose it until the transaction ends. */
  lock: boolean;
}

export type SlotChoice =
  | { kind: 'chosen'; at: Date; explanation: AutoSchedule }
  | { kind: 'none'; details: { candidates: number; blocked: number; horizon_end: string; source: string } };

/** Chooses the slot of `scheduled_at: "auto"`. Posts of this transaction count once they are flushed. */
export async function chooseSlot(tx: Tx, request: SlotRequest): Promise<SlotChoice> {
  const { accounts, workspaceId, now, lock } = request;
  if (lock) await lockPlacing(tx);
  const schedule = lock ? await lockFollowed(tx, workspaceId) : await findFollowed(tx, workspaceId);
  const zone = zoneOf(request.timezone, schedule);
  const blockers = await readBlockers(tx, { accounts, workspaceId, now, exceptPostId: request.exceptPostId ?? null });
  const weighed = weigh({ now, after: null, zone, platforms: accounts.map(({ platform }) => platform), slots: schedule?.slots ?? null, history: NO_HISTORY, blockerOf: blockers });
  const [chosen, ...others] = weighed.free;
  if (chosen === undefined) {
    return { kind: 'none', details: { ...counts(weighed), horizon_end: weighed.horizon.to.toISOString(), source: weighed.source } };
  }
  const explanation = explain({ weighed, chosen, others, zone, queueId: schedule?.id ?? null, gapSeconds: Math.max(...accounts.map(minimumGapSeconds)) });
  return { kind: 'chosen', at: chosen.at, explanation };
}

/** In which zone hours of the week are meant, where the caller names none. */
export function zoneOf(given: string | null, schedule: Pick<QueueSchedule, 'slots'> | null): string {
  return given ?? schedule?.slots[0]?.timezone ?? 'UTC';
}

function counts({ free, blocked }: Weighed): { candidates: number; blocked: number } {
  return { candidates: free.length + blocked.length, blocked: blocked.length };
}

interface Chosen {
  weighed: Weighed;
  chosen: WeighedSlot;
  others: readonly WeighedSlot[];
  zone: string;
  queueId: string | null;
  gapSeconds: number;
}

function explain({ weighed, chosen, others, zone, queueId, gapSeconds }: Chosen): AutoSchedule {
  const skipped = weighed.blocked.filter((slot) => bestFirst(slot, chosen) < 0).slice(0, AUTO_SKIPPED_SHOWN_MAX);
  return {
    source: weighed.source,
    slot_at: chosen.at.toISOString(),
    local: localTime(chosen.at, zone),
    timezone: zone,
    score: chosen.score,
    components: { recency: chosen.recency, engagement: chosen.engagement },
    queue_id: queueId,
    minimum_gap_seconds: gapSeconds,
    ...counts(weighed),
    alternatives: others.slice(0, AUTO_ALTERNATIVES_SHOWN_MAX).map(({ at, score }) => ({ slot_at: at.toISOString(), score })),
    skipped: skipped.map(({ at, block }) => ({ slot_at: at.toISOString(), reason: block.reason, account_id: block.accountId, post_id: block.holder?.postId ?? null, workspace_id: block.holder?.workspaceId ?? null })),
  };
}
