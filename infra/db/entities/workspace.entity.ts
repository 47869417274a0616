import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { id, instant, text } from './columns.ts';

export const WorkspaceEntity = defineEntity({
  name: 'Workspace',
  tableName: 'workspace',
  properties: {
    id: id(),
    organizationId: text(),
    name: text(),
    slug: text(),
    status: text().$type<'active' | 'archived' | 'erasing'>(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type Workspace = InferEntity<typeof WorkspaceEntity>;
