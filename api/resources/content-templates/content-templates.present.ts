import type { ContentTemplate } from '../../../infra/db/entities/content-template.entity.ts';
import { variablesIn } from './variables.ts';

export function presentTemplate(template: ContentTemplate): Record<string, unknown> {
  const texts = [template.content, ...Object.values(template.platformOverrides ?? {})];
  return {
    id: template.id,
    name: template.name,
    description: template.description ?? null,
    content: template.content,
    platform_overrides: template.platformOverrides ?? null,
    tags: template.tags,
    variables: [...new Set(texts.flatMap(variablesIn))],
    workspace_id: template.workspaceId ?? null,
    revision: template.revision,
    created_at: template.createdAt.toISOString(),
    updated_at: template.updatedAt.toISOString(),
  };
}
