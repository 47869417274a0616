import { ApiError } from '../../../infra/contract/errors.ts';
import type { QueueSchedule } from '../../../infra/db/entities/queue-schedule.entity.ts';
import { clearDefault } from '../../../infra/db/repositories/queue-schedules.ts';
import { applyChange, refuseStaleRevision } from '../../revision.ts';
import type { Call, Reply } from '../../route.ts';
import { defaultToChange, scheduleToChange } from './access.ts';
import { normalizeSlots } from './normalize-slots.ts';
import { presentSchedule } from './queue.present.ts';

/** PATCH /v1/queue/slots/{id}. */
export async function updateSchedule(call: Call): Promise<Reply> {
  return changed(call, await scheduleToChange(call));
}

/** PUT /v1/queue/slots: the default of a scope. */
export async function updateDefault(call: Call): Promise<Reply> {
  return changed(call, await defaultToChange(call));
}

/** Posts that were placed by the schedule stay where they are. */
async function changed(call: Call, schedule: QueueSchedule): Promise<Reply> {
  const { body, tx, now } = call;
  refuseStaleRevision(schedule, body.expected_revision);
  const wish: boolean | undefined = body.is_default ?? body.set_as_default;
  if (wish === false && schedule.isDefault) {
    throw new ApiError('BAD_REQUEST', 'Where there are queue schedules, one is the default. Make another one the default instead.', { details: { field: 'is_default' } });
  }
  const slots = body.slots === undefined ? undefined : normalizeSlots(body.slots, body.timezone);
  if (wish === true && !schedule.isDefault) await clearDefault(tx, { workspaceId: schedule.workspaceId ?? null }, now);
  applyChange(schedule, { name: body.name, slots, isDefault: wish }, now);
  return { status: 200, body: presentSchedule(schedule), workspaceIds: [schedule.workspaceId ?? null] };
}
