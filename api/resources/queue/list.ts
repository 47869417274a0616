import { listSchedules, QUEUE_COLUMNS } from '../../../infra/db/repositories/queue-schedules.ts';
import { allOf, nameWindow, pageReply } from '../../page.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace, visibleWorkspaces } from '../../workspace-access.ts';
import { scheduleToRead } from './access.ts';
import { presentSchedule } from './queue.present.ts';

const { isDefault, name, workspaceId } = QUEUE_COLUMNS;
/** Defaults first, then by name; those without one last. */
const RANKED_NAME = `case when ${isDefault} then '0' when ${name} is null then '2' else '1' end || coalesce(${name}, '')`;

/** GET /v1/queue/slots. */
export async function listQueueSchedules(call: Call): Promise<Reply> {
  const { query, caller, tx } = call;
  if (query.workspace_id !== undefined) await assertNamedWorkspace(call, query.workspace_id, 'read');
  const ofWorkspace = query.workspace_id === undefined ? [] : [{ sql: `${workspaceId} = ?`, params: [query.workspace_id] }];
  const { order, ...window } = nameWindow(call.window!, { ...QUEUE_COLUMNS, name: RANKED_NAME });
  const rows = await listSchedules(tx, { ...allOf([visibleWorkspaces(caller, workspaceId, { library: true }), ...ofWorkspace, window]), order });
  return pageReply(call, {
    rows,
    position: (row) => ({ at: row.createdAt, id: row.id, name: `${row.isDefault ? 0 : row.name === null ? 2 : 1}${row.name ?? ''}` }),
    present: (schedules) => schedules.map(presentSchedule),
  });
}

/** GET /v1/queue/slots/{id}. */
export async function getSchedule(call: Call): Promise<Reply> {
  const schedule = await scheduleToRead(call);
  return { status: 200, body: presentSchedule(schedule), workspaceIds: [schedule.workspaceId ?? null] };
}
