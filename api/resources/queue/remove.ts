import type { QueueSchedule } from '../../../infra/db/entities/queue-schedule.entity.ts';
import { deleteSchedule } from '../../../infra/db/repositories/queue-schedules.ts';
import type { Call, Reply } from '../../route.ts';
import { defaultToChange, scheduleToChange } from './access.ts';

/** DELETE /v1/queue/slots/{id}. */
export async function removeSchedule(call: Call): Promise<Reply> {
  return removed(call, await scheduleToChange(call));
}

/** DELETE /v1/queue/slots: the default of a scope. */
export async function removeDefault(call: Call): Promise<Reply> {
  return removed(call, await defaultToChange(call));
}

async function removed(call: Call, schedule: QueueSchedule): Promise<Reply> {
  await deleteSchedule(call.tx, schedule, call.now);
  return { status: 204, workspaceIds: [schedule.workspaceId ?? null] };
}
