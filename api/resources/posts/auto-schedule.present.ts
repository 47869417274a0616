import type { AutoSchedule } from '../../../infra/db/entities/post.entity.ts';
import type { Caller } from '../../route.ts';
import { mayAccess } from '../../workspace-access.ts';

/** How `auto` chose. A post that stood in the way is named only to who may see it. */
export function presentAutoSchedule(auto: AutoSchedule | null, caller: Caller): Record<string, unknown> | null {
  if (auto === null) return null;
  const skipped = auto.skipped.map(({ workspace_id, ...slot }) => (mayAccess(caller, workspace_id ?? null) ? slot : { ...slot, post_id: null }));
  return { ...auto, skipped };
}

/** The workspaces of the posts that it names. */
export function workspacesIn(auto: AutoSchedule | null, caller: Caller): (string | null)[] {
  const named = (auto?.skipped ?? []).filter(({ post_id }) => post_id !== null);
  return named.map(({ workspace_id }) => workspace_id ?? null).filter((workspaceId) => mayAccess(caller, workspaceId));
}
