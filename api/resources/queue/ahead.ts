import { ApiError } from '../../../infra/contract/errors.ts';
import { isId } from '../../../infra/contract/ids.ts';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import { findFollowed } from '../../../infra/db/repositories/queue-schedules.ts';
import { findSelectedAccounts } from '../../../infra/db/repositories/targets.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace, assertWorkspaceAccess, mayAccess, onlyWorkspace } from '../../workspace-access.ts';
import { scheduleToRead } from './access.ts';
import type { Block } from './blocking.ts';
import { readBlockers } from './load.ts';
import { slotHorizon } from './weigh.ts';
import { instantsOf, localTime, type SlotInstant } from './weekly-times.ts';

/** GET /v1/queue/next: the first slot that `auto` could take. */
export async function nextSlot(call: Call): Promise<Reply> {
  const slot = (await slotsAhead(call)).find(({ block }) => block === null);
  if (slot === undefined) throw new ApiError('NO_SLOT', 'The queue has no free slot within 30 days. Add slots to its schedule, or give the post a time of its own.');
  return { status: 200, body: { next_slot_at: slot.at.toISOString(), queue_id: slot.queueId, local: localTime(slot.at, slot.zone) } };
}

/** GET /v1/queue/preview: the slots in order of time, taken ones among them. */
export async function previewSlots(call: Call): Promise<Reply> {
  const slots = (await slotsAhead(call)).slice(0, call.query.count);
  const data = slots.map(({ at, zone, queueId, block }) => ({ slot_at: at.toISOString(), local: localTime(at, zone), queue_id: queueId, taken_by: takenBy(call, block) }));
  return { status: 200, body: { slots: slots.filter(({ block }) => block === null).map(({ at }) => at.toISOString()), data } };
}

/** A slot that is taken by what the caller may not see is no less taken. */
function takenBy({ caller }: Call, block: Block | null): string | null {
  const holder = block?.holder ?? null;
  return holder !== null && mayAccess(caller, holder.workspaceId) ? holder.postId : null;
}

interface SlotAhead extends SlotInstant {
  queueId: string;
  block: Block | null;
}

async function slotsAhead(call: Call): Promise<SlotAhead[]> {
  const { query, tx, now } = call;
  if (query.workspace_id !== undefined) await assertNamedWorkspace(call, query.workspace_id, 'read');
  const named = query.queue_id === undefined ? null : await scheduleToRead(call, query.queue_id);
  const accounts = query.account_id === undefined ? [] : await accountsToRead(call, [query.account_id]);
  const workspaceId: string | null = query.workspace_id ?? named?.workspaceId ?? accounts[0]?.workspaceId ?? onlyWorkspace(call.caller);
  const schedule = named ?? (await findFollowed(tx, workspaceId));
  if (schedule === null) return [];
  const blocker = (await readBlockers(tx, { accounts, workspaceId, now, exceptPostId: null }))('queue_slot');
  const instants = instantsOf(schedule.slots, slotHorizon(now)).filter(({ at }) => query.after === undefined || at > query.after);
  return instants.map((slot) => ({ ...slot, queueId: schedule.id, block: blocker(slot.at) }));
}

/** The accounts that a query names, each once. */
export async function accountsToRead(call: Call, ids: readonly string[]): Promise<Account[]> {
  const accounts = await findSelectedAccounts(call.tx, ids.filter((id) => isId('account', id)));
  if (accounts.length < new Set(ids).size) throw new ApiError('ACCOUNT_NOT_FOUND', 'There is no such account.', { details: { resource: 'account', field: 'account_id' } });
  for (const account of accounts) assertWorkspaceAccess(call.caller, account.workspaceId ?? null);
  return accounts;
}
