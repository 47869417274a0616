import { TEMPLATES_MAX } from '../../../infra/contract/limits.ts';
import type { ContentTemplate } from '../../../infra/db/entities/content-template.entity.ts';
import { countTemplates, deleteTemplate, findTemplate, insertTemplate, listTemplates } from '../../../infra/db/repositories/content-templates.ts';
import { lockLibrary } from '../../../infra/db/repositories/library-lock.ts';
import { refuseBeyond } from '../../library-limit.ts';
import { libraryClauses } from '../../library.ts';
import { allOf, containing, pageReply, windowClause, type Clause } from '../../page.ts';
import { applyChange, refuseStaleRevision } from '../../revision.ts';
import type { Call, Reply } from '../../route.ts';
import { assertLibraryChange, workspaceOfNewInLibrary } from '../../workspace-access.ts';
import { knownTemplate, readableTemplate } from './access.ts';
import { presentTemplate } from './content-templates.present.ts';

export async function list(call: Call): Promise<Reply> {
  const { order, ...window } = windowClause(call.window!, { time: 't.created_at', id: 't.id' });
  const rows = await listTemplates(call.tx, { ...allOf([...await libraryClauses(call, 't.workspace_id'), ...filters(call.query), window]), order });
  return pageReply(call, { rows, position: (row) => ({ at: row.createdAt, id: row.id }), present: (page) => page.map(presentTemplate) });
}

function filters({ tag, q }: Call['query']): Clause[] {
  return [
    ...(tag === undefined ? [] : [{ sql: 'exists (select from unnest(t.tags) word where lower(word) = lower(?))', params: [tag] }]),
    ...(q === undefined ? [] : [{ sql: 't.name ilike ? or t.content ilike ?', params: [containing(q), containing(q)] }]),
  ];
}

export async function create(call: Call): Promise<Reply> {
  const { tx, body, caller, now } = call;
  const workspaceId = await workspaceOfNewInLibrary(call);
  await lockLibrary(tx, 'template');
  refuseBeyond({ resource: 'template', limit: TEMPLATES_MAX }, await countTemplates(tx));
  const { name, description = null, content, platform_overrides: platformOverrides = null, tags = [] } = body;
  const template = insertTemplate(tx, { organizationId: caller.organizationId, mode: caller.mode, workspaceId, name, description, content, platformOverrides, tags: folded(tags) }, now);
  return { ...shown(template), status: 201, headers: { Location: `/v1/content-templates/${template.id}` } };
}

export async function read(call: Call): Promise<Reply> {
  return shown(await readableTemplate(call));
}

export async function patch(call: Call): Promise<Reply> {
  const template = await toChange(call);
  const { name, description, content, platform_overrides: platformOverrides, tags, expected_revision } = call.body;
  refuseStaleRevision(template, expected_revision);
  applyChange(template, { name, description, content, platformOverrides, tags: tags === undefined ? undefined : folded(tags) }, call.now);
  return shown(template);
}

export async function remove(call: Call): Promise<Reply> {
  await deleteTemplate(call.tx, await toChange(call));
  return { status: 204 };
}

/** Words that differ only in case are one: the first of them. */
function folded(words: readonly string[]): string[] {
  return [...Map.groupBy(words, (word) => word.toLowerCase()).values()].map(([first]) => first!);
}

async function toChange(call: Call): Promise<ContentTemplate> {
  const template = knownTemplate(await findTemplate(call.tx, call.params.id!, { forUpdate: true }));
  await assertLibraryChange(call, template.workspaceId ?? null);
  return template;
}

function shown(template: ContentTemplate): Reply {
  return { status: 200, body: presentTemplate(template), workspaceIds: [template.workspaceId ?? null] };
}
