import { ApiError } from '../../../infra/contract/errors.ts';
import { TAGS_MAX } from '../../../infra/contract/limits.ts';
import type { Tag } from '../../../infra/db/entities/tag.entity.ts';
import { lockLibrary } from '../../../infra/db/repositories/library-lock.ts';
import { countTags, deleteTag, findTag, insertTag, isTagNameTaken, listTags, TAG_NAME } from '../../../infra/db/repositories/tags.ts';
import { refuseBeyond } from '../../library-limit.ts';
import { libraryClauses } from '../../library.ts';
import { allOf, containing, nameWindow, pageReply, type Clause } from '../../page.ts';
import { applyChange } from '../../revision.ts';
import type { Call, Reply } from '../../route.ts';
import { assertLibraryAccess, assertLibraryChange, workspaceOfNewInLibrary } from '../../workspace-access.ts';
import { presentTag } from './tags.present.ts';

export async function list(call: Call): Promise<Reply> {
  const { order, ...window } = nameWindow(call.window!, { name: TAG_NAME, time: 't.created_at', id: 't.id' });
  const rows = await listTags(call.tx, { ...allOf([...await libraryClauses(call, 't.workspace_id'), ...named(call.query), window]), order });
  return pageReply(call, { rows, position: ({ tag, sortName }) => ({ at: tag.createdAt, id: tag.id, name: sortName }), present: (page) => page.map(({ tag }) => presentTag(tag)) });
}

function named({ q }: Call['query']): Clause[] {
  return q === undefined ? [] : [{ sql: 't.name ilike ?', params: [containing(q)] }];
}

export async function create(call: Call): Promise<Reply> {
  const { tx, body, caller, now } = call;
  const workspaceId = await workspaceOfNewInLibrary(call);
  await lockLibrary(tx, 'tag');
  await refuseTakenName(call, { name: body.name, workspaceId, id: null });
  refuseBeyond({ resource: 'tag', limit: TAGS_MAX }, await countTags(tx));
  const tag = insertTag(tx, { organizationId: caller.organizationId, mode: caller.mode, workspaceId, name: body.name, color: body.color }, now);
  return { ...shown(tag), status: 201, headers: { Location: `/v1/tags/${tag.id}` } };
}

export async function read(call: Call): Promise<Reply> {
  const tag = known(await findTag(call.tx, call.params.id!));
  assertLibraryAccess(call.caller, tag.workspaceId ?? null, 'read');
  return shown(tag);
}

export async function patch(call: Call): Promise<Reply> {
  const tag = await toChange(call);
  const { name, color } = call.body;
  if (name !== undefined) await refuseTakenName(call, { name, workspaceId: tag.workspaceId ?? null, id: tag.id });
  applyChange(tag, { name, color }, call.now);
  return shown(tag);
}

/** Posts lose it with it. */
export async function remove(call: Call): Promise<Reply> {
  await deleteTag(call.tx, await toChange(call));
  return { status: 204 };
}

async function toChange(call: Call): Promise<Tag> {
  await lockLibrary(call.tx, 'tag');
  const tag = known(await findTag(call.tx, call.params.id!, { forUpdate: true }));
  await assertLibraryChange(call, tag.workspaceId ?? null);
  return tag;
}

async function refuseTakenName({ tx }: Call, tag: { name: string; workspaceId: string | null; id: string | null }): Promise<void> {
  if (!await isTagNameTaken(tx, tag)) return;
  throw new ApiError('TAG_NAME_TAKEN', 'There is a tag of this name already, in whatever case. Use that one, or take another name.', { details: { resource: 'tag', field: 'name' } });
}

function known(tag: Tag | null): Tag {
  if (tag === null) throw new ApiError('TAG_NOT_FOUND', 'There is no tag with this id. It was deleted, belongs to the other mode, or never was.', { details: { resource: 'tag' } });
  return tag;
}

function shown(tag: Tag): Reply {
  return { status: 200, body: presentTag(tag), workspaceIds: [tag.workspaceId ?? null] };
}
