import { ApiError } from '../../../../infra/contract/errors.ts';
import type { Tag } from '../../../../infra/db/entities/tag.entity.ts';
import { findTagsByName } from '../../../../infra/db/repositories/tags.ts';
import type { Call } from '../../../route.ts';
import { mayAccess, onlyWorkspace } from '../../../workspace-access.ts';
import type { ReadRow } from './rows.ts';

/** Gives rows the ids of the tags they name, in any case: a tag of their own workspace goes before one of the organization. */
export async function withTags(call: Call, rows: readonly ReadRow[]): Promise<ReadRow[]> {
  const names = new Set(rows.flatMap((row) => (row.kind === 'body' ? row.tagNames.map(folded) : [])));
  const found = await findTagsByName(call.tx, [...names]);
  const usable = found.filter((tag) => isShared(tag) || mayAccess(call.caller, tag.workspaceId!));
  const byName = Map.groupBy(usable, (tag) => folded(tag.name));
  return rows.map((row) => (row.kind === 'body' && row.tagNames.length > 0 ? withTagsOfRow(row, byName, (row.body.workspace_id as string | null | undefined) ?? onlyWorkspace(call.caller)) : row));
}

function withTagsOfRow(row: ReadRow & { kind: 'body' }, byName: ReadonlyMap<string, Tag[]>, workspaceId: string | null): ReadRow {
  const rank = (tag: Tag) => (tag.workspaceId === workspaceId ? 0 : isShared(tag) ? 1 : 2);
  const tags = row.tagNames.map((name) => byName.get(folded(name))?.toSorted((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))[0]);
  const missing = row.tagNames.filter((_, index) => tags[index] === undefined);
  const { tagNames: _names, ...place } = row;
  if (missing.length > 0) return { ...place, kind: 'refused', error: new ApiError('TAG_NOT_FOUND', 'A tag of this name does not exist. Create it first, or leave it out.', { details: { resource: 'tag', field: 'tags', names: missing.map((name) => name.slice(0, 100)) } }) };
  return { ...row, body: { ...row.body, tag_ids: tags.map((tag) => tag!.id) } };
}

function isShared(tag: Tag): boolean {
  return tag.workspaceId === null || tag.workspaceId === undefined;
}

function folded(name: string): string {
  return name.toLowerCase();
}
