import type { Tag } from '../../../infra/db/entities/tag.entity.ts';

export function presentTag(tag: Tag): Record<string, unknown> {
  return {
    id: tag.id,
    name: tag.name,
    color: tag.color,
    workspace_id: tag.workspaceId ?? null,
    created_at: tag.createdAt.toISOString(),
    updated_at: tag.updatedAt.toISOString(),
  };
}

/** As a post shows it. */
export function presentPostTag(tag: Tag): Record<string, unknown> {
  return { id: tag.id, name: tag.name, color: tag.color };
}
