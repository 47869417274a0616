import { ApiError } from '../../../infra/contract/errors.ts';
import type { ContentTemplate } from '../../../infra/db/entities/content-template.entity.ts';
import { findTemplate } from '../../../infra/db/repositories/content-templates.ts';
import type { Call } from '../../route.ts';
import { assertLibraryAccess } from '../../workspace-access.ts';

/** Row 29: the template of the path, to be read. */
export async function readableTemplate({ tx, params, caller }: Call): Promise<ContentTemplate> {
  const template = knownTemplate(await findTemplate(tx, params.id!));
  assertLibraryAccess(caller, template.workspaceId ?? null, 'read');
  return template;
}

export function knownTemplate(template: ContentTemplate | null): ContentTemplate {
  if (template === null) throw new ApiError('TEMPLATE_NOT_FOUND', 'There is no content template with this id. It was deleted, belongs to the other mode, or never was.', { details: { resource: 'template' } });
  return template;
}
