import { ApiError } from '../../../../infra/contract/errors.ts';
import { NO_TEXT, type FrozenSignature, type TextSource } from '../../../../infra/db/entities/post.entity.ts';
import type { ContentTemplate } from '../../../../infra/db/entities/content-template.entity.ts';
import type { Signature } from '../../../../infra/db/entities/signature.entity.ts';
import type { Tag } from '../../../../infra/db/entities/tag.entity.ts';
import { findTemplate } from '../../../../infra/db/repositories/content-templates.ts';
import { findTags } from '../../../../infra/db/repositories/tags.ts';
import type { Call } from '../../../route.ts';
import { assertLibraryAccess } from '../../../workspace-access.ts';
import { knownTemplate } from '../../content-templates/access.ts';

/** The template that a body names. It is read now and never again: what is edited later changes no post. */
export async function readTemplate({ tx, caller }: Call, id: string): Promise<ContentTemplate> {
  const template = knownTemplate(await findTemplate(tx, id));
  assertLibraryAccess(caller, template.workspaceId ?? null, 'read');
  return template;
}

export function refuseForeignTemplate(template: ContentTemplate | null, workspaceId: string | null): void {
  const of = template?.workspaceId ?? null;
  if (of === null || of === workspaceId) return;
  throw new ApiError('WORKSPACE_SCOPE_CONFLICT', 'The template belongs to another workspace than the post. Take one of the post\'s workspace or of the organization.', { details: { workspace_ids: [of], field: 'template_id' } });
}

export function textOfTemplate({ content, platformOverrides }: ContentTemplate, variables: Record<string, string>): TextSource {
  return { kind: 'template', text: content, overrides: platformOverrides ?? null, variables };
}

/** `null` is no shared text. The variables are kept for a template that may come later. */
export function textOfContent(content: string | null, variables: Record<string, string> = {}): TextSource {
  return content === null ? { ...NO_TEXT, variables } : { kind: 'content', text: content, overrides: null, variables };
}

/** The tags that a body names, each of them once, in the order of their names. */
export async function readTags({ tx, caller }: Call, ids: readonly string[]): Promise<Tag[]> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return [];
  const tags = await findTags(tx, wanted);
  const known = new Set(tags.map((tag) => tag.id));
  const missing = wanted.filter((id) => !known.has(id));
  if (missing.length > 0) throw new ApiError('TAG_NOT_FOUND', 'A tag does not exist. List the tags to find their ids.', { details: { resource: 'tag', field: 'tag_ids', ids: missing } });
  for (const tag of tags) assertLibraryAccess(caller, tag.workspaceId ?? null, 'read');
  return tags.toSorted((a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1));
}

export function frozen(signature: Signature | null): FrozenSignature | null {
  if (signature === null) return null;
  const { id, name, workspaceId, content, position } = signature;
  return { id, name, workspaceId: workspaceId ?? null, content, position };
}
