import type { QueueSchedule } from '../../../infra/db/entities/queue-schedule.entity.ts';

/** Row → wire. */
export function presentSchedule(schedule: QueueSchedule): Record<string, unknown> {
  return {
    id: schedule.id,
    name: schedule.name,
    slots: schedule.slots.map(({ day_of_week, time, timezone }) => ({ day_of_week, time, timezone })),
    is_default: schedule.isDefault,
    workspace_id: schedule.workspaceId,
    revision: schedule.revision,
    created_at: schedule.createdAt.toISOString(),
    updated_at: schedule.updatedAt.toISOString(),
  };
}
