import Joi from 'joi';
import type { Clause } from './page.ts';
import type { Call } from './route.ts';
import { assertNamedWorkspace, visibleWorkspaces } from './workspace-access.ts';

/*
 * What signatures, content templates and tags have in common: a row is of a workspace, or of the organization, and then
 * every workspace may use it.
 */

/** What the guards of such rows answer; a route adds what is its own. */
export const LIBRARY_ERRORS = {
  list: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'INVALID_CURSOR'],
  create: ['NOT_FOUND', 'WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE', 'WORKSPACE_ID_REQUIRED', 'LIMIT_REACHED'],
  read: ['WORKSPACE_ACCESS_DENIED'],
  change: ['WORKSPACE_ACCESS_DENIED', 'WORKSPACE_NOT_ACTIVE'],
} as const;

export const workspaceOfNewField = Joi.string().allow('', null).description('Absent: the only workspace of the credential, else the organization. null: the organization.');
export const listedWorkspaceField = Joi.string().description("Those of this workspace and the organization's.");

/** The rows that a list may show, and of them those that its query asks for. `column` is an SQL expression of the list's own query, never input. */
export async function libraryClauses(call: Call, column: string): Promise<Clause[]> {
  const { workspace_id: id, exact } = call.query;
  const visible = visibleWorkspaces(call.caller, column, { library: true });
  if (id === undefined) return [visible];
  await assertNamedWorkspace(call, id, 'read');
  return [visible, { sql: exact === true ? `${column} = ?` : `${column} = ? or ${column} is null`, params: [id] }];
}
