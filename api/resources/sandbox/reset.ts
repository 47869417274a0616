import { ApiError } from '../../../infra/contract/errors.ts';
import { AccountEntity } from '../../../infra/db/entities/account.entity.ts';
import { setSandboxBehaviour } from '../../../infra/db/repositories/accounts.ts';
import { reconnectSandboxAccount } from '../../../infra/organizations.ts';
import { sandboxAdmin } from '../../../infra/sandbox-admin.ts';
import type { Call, Reply } from '../../route.ts';
import { assertWorkspaceAccess, mayAccess } from '../../workspace-access.ts';
import { sandboxAway } from './ask.ts';

/**
 * POST /v1/sandbox/reset: what is public at the sandbox is emptied, and a new epoch of its ledger begins. The sandbox is told
 * last; when that fails nothing of ours is stored, and when our commit fails a repetition does the same again.
 */
export async function reset(call: Call): Promise<Reply> {
  const accounts = await accountsOf(call, call.body.account_ids);
  for (const { id, sandboxBehaviour, status } of accounts) {
    if (status === 'reconnect_required') await reconnectSandboxAccount(call.tx, call.infra, id, call.now);
    else if (sandboxBehaviour !== 'normal') await setSandboxBehaviour(call.tx, { id, behaviour: 'normal', at: call.now });
  }
  const isWhole = call.body.account_ids === undefined && call.caller.workspaceScope === 'all';
  const done = await sandboxAdmin(call.infra).reset<{ epoch: number; accounts: number } | null>({
    organization_id: call.caller.organizationId, ...(isWhole ? {} : { account_ids: accounts.map((account) => account.id) }),
  });
  if (done === null) throw sandboxAway();
  return { status: 200, body: { epoch: done.epoch, accounts: done.accounts } };
}

type Resettable = { id: string; workspaceId?: string | null; sandboxBehaviour?: string | null; status?: string };

/** Named accounts must be there and granted; without names it is every account that the credential may touch. */
async function accountsOf({ tx, caller }: Call, ids: string[] | undefined): Promise<Resettable[]> {
  const fields = { fields: ['id', 'workspaceId', 'sandboxBehaviour', 'status'] as const };
  if (ids === undefined) return (await tx.find(AccountEntity, {}, fields)).filter((account) => mayAccess(caller, account.workspaceId ?? null));
  const wanted = [...new Set(ids)];
  const found = await tx.find(AccountEntity, { id: { $in: wanted } }, fields);
  const missing = wanted.find((id) => !found.some((account) => account.id === id));
  if (missing !== undefined) throw new ApiError('ACCOUNT_NOT_FOUND', 'One of these accounts does not exist. Nothing was reset.', { details: { resource: 'account', id: missing } });
  for (const account of found) assertWorkspaceAccess(caller, account.workspaceId ?? null);
  return found;
}
