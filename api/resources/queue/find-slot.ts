import type { QueueSchedule } from '../../../infra/db/entities/queue-schedule.entity.ts';
import { findFollowed } from '../../../infra/db/repositories/queue-schedules.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace } from '../../workspace-access.ts';
import { workspaceOfPost } from '../posts/planning/workspace-of-post.ts';
import { accountsToRead } from './ahead.ts';
import { zoneOf } from './choose-slot.ts';
import { NO_HISTORY } from './engagement.ts';
import { readBlockers } from './load.ts';
import { weigh, type SlotQuestion } from './weigh.ts';

type Strategy = 'queue' | 'best-time' | 'smart';

/** GET /v1/queue/find-slot: what `auto` would find for these accounts, without taking it. */
export async function findSlot(call: Call): Promise<Reply> {
  const { query, tx, now, caller } = call;
  if (query.workspace_id !== undefined) await assertNamedWorkspace(call, query.workspace_id, 'read');
  const accounts = await accountsToRead(call, query.account_id);
  const workspaceId = workspaceOfPost({ given: query.workspace_id ?? null, accounts, selected: [], caller });
  const schedule = await findFollowed(tx, workspaceId);
  const weighed = weigh({
    now, after: query.after ?? null, zone: zoneOf(query.timezone ?? null, schedule), platforms: accounts.map(({ platform }) => platform),
    slots: slotsFor(query.strategy, schedule), history: NO_HISTORY, blockerOf: await readBlockers(tx, { accounts, workspaceId, now, exceptPostId: null }),
  });
  const slots = weighed.free.slice(0, query.count).map(({ at, score }) => ({ slot_at: at.toISOString(), score, reason: weighed.source, conflicts: 0 }));
  return { status: 200, body: { slots, fallback: weighed.source === 'default' } };
}

function slotsFor(strategy: Strategy, schedule: QueueSchedule | null): SlotQuestion['slots'] {
  switch (strategy) {
    case 'queue': return schedule?.slots ?? [];
    case 'best-time': return null;
    case 'smart': return schedule?.slots ?? null;
  }
}
