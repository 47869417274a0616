import { ApiError } from '../../../../infra/contract/errors.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { Caller } from '../../../route.ts';

export function workspaceDenied(workspaceIds: readonly (string | null | undefined)[]): ApiError {
  const ids = [...new Set(workspaceIds.filter((id) => typeof id === 'string'))];
  return new ApiError('WORKSPACE_ACCESS_DENIED', 'This credential has no access to the workspace. Use a credential that was granted it.', ids.length === 0 ? {} : { details: { workspace_ids: ids } });
}

export function workspaceNotActive(workspaceIds: readonly string[]): ApiError {
  return new ApiError('WORKSPACE_NOT_ACTIVE', 'The workspace is archived or being erased, so nothing can be published from it. Restore it or choose another.', { details: { workspace_ids: [...new Set(workspaceIds)] } });
}

interface Derivation {
  /** The post's workspace as given in a request; null = to be derived. */
  given: string | null;
  accounts: readonly Pick<Account, 'id' | 'workspaceId'>[];
  /** Workspaces named as selectors. */
  selected: readonly string[];
  caller: Pick<Caller, 'workspaceScope' | 'organization'>;
}

/** The workspace a post belongs to, from what was given and from the accounts it is aimed at. */
export function workspaceOfPost({ given, accounts, selected, caller }: Derivation): string | null {
  if (given !== null) {
    refuseOutside(given, accounts, selected);
    return given;
  }
  const workspaces = [...new Set(accounts.flatMap((account) => account.workspaceId ?? []))];
  const [only] = workspaces;
  if (workspaces.length === 1) return only!;
  const required = caller.organization.requireWorkspaceId;
  if (workspaces.length === 0) {
    if (caller.workspaceScope !== 'all' && caller.workspaceScope.length === 1) return caller.workspaceScope[0]!;
    if (caller.workspaceScope === 'all' && !required) return null;
    throw new ApiError('WORKSPACE_ID_REQUIRED', 'The accounts name no workspace. Give workspace_id.', { details: { field: 'workspace_id' } });
  }
  if (caller.workspaceScope === 'all' && !required) return null;
  throw new ApiError('WORKSPACE_SCOPE_CONFLICT', 'The accounts belong to several workspaces. Make one post per workspace, or give accounts of one.', { details: { workspace_ids: workspaces } });
}

function refuseOutside(given: string, accounts: Derivation['accounts'], selected: readonly string[]): void {
  const outside = accounts.filter((account) => account.workspaceId && account.workspaceId !== given).map((account) => account.id);
  const otherWorkspaces = selected.filter((id) => id !== given);
  if (outside.length === 0 && otherWorkspaces.length === 0) return;
  throw new ApiError('WORKSPACE_SCOPE_CONFLICT', 'Some targets lie outside workspace_id. Leave them out, or publish them from their own workspace.', {
    details: { account_ids: outside, ...(otherWorkspaces.length === 0 ? {} : { workspace_ids: otherWorkspaces }) },
  });
}
