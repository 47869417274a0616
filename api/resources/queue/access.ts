import { ApiError } from '../../../infra/contract/errors.ts';
import type { QueueSchedule } from '../../../infra/db/entities/queue-schedule.entity.ts';
import { lockLibrary } from '../../../infra/db/repositories/library-lock.ts';
import { findDefault, findSchedule, lockSchedule } from '../../../infra/db/repositories/queue-schedules.ts';
import type { Call } from '../../route.ts';
import { assertLibraryAccess, assertLibraryChange, assertNamedWorkspace, workspaceOfNew } from '../../workspace-access.ts';

/** The schedule of the path. */
export async function scheduleToRead(call: Call, id = call.params.id!): Promise<QueueSchedule> {
  const schedule = await findSchedule(call.tx, id);
  if (schedule === null) throw scheduleNotFound();
  assertLibraryAccess(call.caller, schedule.workspaceId ?? null, 'read');
  return schedule;
}

/** The schedule of the path, which nobody else changes until the transaction ends. */
export async function scheduleToChange(call: Call): Promise<QueueSchedule> {
  await lockLibrary(call.tx, 'queue');
  return locked(call, call.params.id!);
}

/** The same for the default of the workspace of the query. */
export async function defaultToChange(call: Call): Promise<QueueSchedule> {
  const given: string | undefined = call.query.workspace_id;
  if (given !== undefined) await assertNamedWorkspace(call, given, 'write');
  const workspaceId = workspaceOfNew(call.caller, given);
  await lockLibrary(call.tx, 'queue');
  const schedule = await findDefault(call.tx, { workspaceId });
  if (schedule === null) throw scheduleNotFound();
  return locked(call, schedule.id);
}

async function locked(call: Call, id: string): Promise<QueueSchedule> {
  const schedule = await lockSchedule(call.tx, id);
  if (schedule === null) throw scheduleNotFound();
  await assertLibraryChange(call, schedule.workspaceId ?? null);
  return schedule;
}

function scheduleNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'There is no such queue schedule.', { details: { resource: 'queue_schedule' } });
}
