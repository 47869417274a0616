import { ApiError } from '../infra/contract/errors.ts';
import { findWorkspace } from '../infra/db/repositories/workspaces.ts';
import type { Clause } from './page.ts';
import type { Call, Caller } from './route.ts';

/** Row 29: whether the caller may touch a row by its workspace. `null` is the organization level. */
export function mayAccess(caller: Caller, workspaceId: string | null): boolean {
  return caller.workspaceScope === 'all' || (workspaceId !== null && caller.workspaceScope.includes(workspaceId));
}

export function assertWorkspaceAccess(caller: Caller, workspaceId: string | null): void {
  if (!mayAccess(caller, workspaceId)) throw accessDenied();
}

/** The same for the shared library, whose organization-level rows every scope may read. */
export function assertLibraryAccess(caller: Caller, workspaceId: string | null, intent: 'read' | 'write'): void {
  if (workspaceId !== null || caller.workspaceScope === 'all') return assertWorkspaceAccess(caller, workspaceId);
  if (intent === 'read') return undefined;
  throw new ApiError('FORBIDDEN', 'This belongs to the whole organization; changing it needs a credential for all workspaces.', { details: { reason: 'scope_all_required' } });
}

/** For lists: rows outside the scope are hidden. `column` is an SQL expression of the list's query, never input. */
export function visibleWorkspaces(caller: Caller, column: string, options: { library?: boolean } = {}): Clause {
  if (caller.workspaceScope === 'all') return { sql: 'true', params: [] };
  const granted = { sql: `${column} in (?)`, params: [caller.workspaceScope] };
  return options.library === true ? { ...granted, sql: `(${granted.sql} or ${column} is null)` } : granted;
}

/** Row 28: a workspace named in query or body. Foreign, unknown and malformed ids get the same answer. */
export async function assertNamedWorkspace(call: Call, workspaceId: string, intent: 'read' | 'write'): Promise<void> {
  const workspace = await findWorkspace(call.tx, workspaceId);
  if (workspace === null) throw new ApiError('NOT_FOUND', 'There is no such workspace.', { details: { resource: 'workspace', field: 'workspace_id' } });
  assertWorkspaceAccess(call.caller, workspaceId);
  if (intent === 'write' && workspace.status !== 'active') {
    throw new ApiError('WORKSPACE_NOT_ACTIVE', `This workspace is ${workspace.status}; nothing can be changed in it.`, { details: { id: workspaceId, status: workspace.status } });
  }
}

/** The workspace of a credential that was granted one: what it asks for without naming a workspace is asked for there. */
export function onlyWorkspace({ workspaceScope }: Caller): string | null {
  return workspaceScope !== 'all' && workspaceScope.length === 1 ? workspaceScope[0]! : null;
}

/** The workspace of a new row that has no parent to take it from. `given` must have passed `assertNamedWorkspace`. */
export function workspaceOfNew(caller: Caller, given: string | undefined): string | null {
  const workspaceId = given ?? onlyWorkspace(caller);
  if (workspaceId !== null) return workspaceId;
  if (caller.workspaceScope !== 'all' || caller.organization.requireWorkspaceId) {
    throw new ApiError('WORKSPACE_ID_REQUIRED', 'Say in which workspace this belongs: workspace_id.');
  }
  return null;
}

/** Rows 28 and 29 of a new row of the shared library: its workspace, or null for the organization, which takes a credential for all workspaces. */
export async function workspaceOfNewInLibrary(call: Call): Promise<string | null> {
  const given: string | null | undefined = call.body.workspace_id;
  if (given === null) assertLibraryAccess(call.caller, null, 'write');
  const workspaceId = given ?? workspaceOfNew(call.caller, undefined);
  if (workspaceId !== null) await assertNamedWorkspace(call, workspaceId, 'write');
  return workspaceId;
}

/** Row 29 of a row of the shared library that is to be changed. */
export async function assertLibraryChange(call: Call, workspaceId: string | null): Promise<void> {
  assertLibraryAccess(call.caller, workspaceId, 'write');
  if (workspaceId !== null) await assertNamedWorkspace(call, workspaceId, 'write');
}

function accessDenied(): ApiError {
  return new ApiError('WORKSPACE_ACCESS_DENIED', 'This credential was not granted this workspace.');
}

