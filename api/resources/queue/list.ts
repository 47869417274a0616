import type { QueueSchedule } from '../../../infra/db/entities/queue-schedule.entity.ts';
import { listSchedules, QUEUE_COLUMNS } from '../../../infra/db/repositories/queue-schedules.ts';
import type { Position } from '../../../infra/db/keyset.ts';
import { allOf, pageReply, windowClause, type Clause } from '../../page.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace, visibleWorkspaces } from '../../workspace-access.ts';
import { scheduleToRead } from './access.ts';
import { presentSchedule } from './queue.present.ts';

const { id, isDefault, name, workspaceId } = QUEUE_COLUMNS;
/** The default first, then by name; those without one last. */
const ORDER = `not ${isDefault}, ${name} is null, coalesce(${name}, ''), ${id}`;

/** GET /v1/queue/slots. */
export async function listQueueSchedules(call: Call): Promise<Reply> {
  const { query, caller, tx } = call;
  if (query.workspace_id !== undefined) await assertNamedWorkspace(call, query.workspace_id, 'read');
  const { after, limit } = call.window!;
  const where = allOf([
    visibleWorkspaces(caller, workspaceId, { library: true }),
    ...(query.workspace_id === undefined ? [] : [{ sql: `${workspaceId} = ?`, params: [query.workspace_id] }]),
    windowClause({ ...call.window!, after: null }, QUEUE_COLUMNS),
    ...(after === null ? [] : [behind(after)]),
  ]);
  const rows = await listSchedules(tx, { ...where, order: `order by ${ORDER} limit ${limit + 1}` });
  return pageReply(call, { rows, position: positionOf, present: (schedules) => schedules.map(presentSchedule) });
}

/** The place in this order, which is not one of time. */
function positionOf(schedule: QueueSchedule): Position {
  return { at: schedule.createdAt, id: JSON.stringify([!schedule.isDefault, schedule.name === null, schedule.name ?? '', schedule.id]) };
}

function behind(position: Position): Clause {
  return { sql: `(${ORDER}) > (?, ?, ?, ?)`, params: JSON.parse(position.id) as unknown[] };
}

/** GET /v1/queue/slots/{id}. */
export async function getSchedule(call: Call): Promise<Reply> {
  const schedule = await scheduleToRead(call);
  return { status: 200, body: presentSchedule(schedule), workspaceIds: [schedule.workspaceId ?? null] };
}
