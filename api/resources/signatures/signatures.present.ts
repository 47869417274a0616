import type { Signature } from '../../../infra/db/entities/signature.entity.ts';

/** The workspace is a text or not there: existing clients know no null in its place. */
export function presentSignature(signature: Signature): Record<string, unknown> {
  return {
    id: signature.id,
    name: signature.name,
    content: signature.content,
    is_default: signature.isDefault,
    position: signature.position,
    ...(signature.workspaceId ? { workspace_id: signature.workspaceId } : {}),
    revision: signature.revision,
    created_at: signature.createdAt.toISOString(),
    updated_at: signature.updatedAt.toISOString(),
  };
}
