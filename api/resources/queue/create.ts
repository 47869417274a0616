import { newId } from '../../../infra/contract/ids.ts';
import { QUEUE_SCHEDULES_MAX } from '../../../infra/contract/limits.ts';
import { QueueScheduleEntity } from '../../../infra/db/entities/queue-schedule.entity.ts';
import { lockLibrary } from '../../../infra/db/repositories/library-lock.ts';
import { clearDefault, countSchedules } from '../../../infra/db/repositories/queue-schedules.ts';
import { add } from '../../../infra/db/rows.ts';
import { refuseBeyond } from '../../library-limit.ts';
import type { Call, Reply } from '../../route.ts';
import { workspaceOfNewInLibrary } from '../../workspace-access.ts';
import { normalizeSlots } from './normalize-slots.ts';
import { presentSchedule } from './queue.present.ts';

/** POST /v1/queue/slots. The first schedule of a scope becomes its default, whatever was asked. */
export async function createSchedule(call: Call): Promise<Reply> {
  const { tx, body, caller, now } = call;
  const workspaceId = await workspaceOfNewInLibrary(call);
  await lockLibrary(tx, 'queue');
  const count = await countSchedules(tx, { workspaceId });
  refuseBeyond({ resource: 'queue_schedule', limit: QUEUE_SCHEDULES_MAX }, count);
  const isDefault: boolean = count === 0 || (body.is_default ?? body.set_as_default ?? false);
  if (isDefault) await clearDefault(tx, { workspaceId }, now);
  const schedule = add(tx, QueueScheduleEntity, {
    id: newId('queue'), organizationId: caller.organizationId, mode: caller.mode, workspaceId, name: body.name ?? null,
    slots: normalizeSlots(body.slots, body.timezone), isDefault, revision: 1, createdAt: now, updatedAt: now,
  });
  return { status: 201, body: presentSchedule(schedule), headers: { Location: `/v1/queue/slots/${schedule.id}` }, workspaceIds: [workspaceId] };
}
