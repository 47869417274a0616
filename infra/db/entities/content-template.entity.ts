import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { id, instant, integer, json, mode, text, texts } from './columns.ts';

export const ContentTemplateEntity = defineEntity({
  name: 'ContentTemplate',
  tableName: 'content_template',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    /** null = the organization's. */
    workspaceId: text().nullable(),
    name: text(),
    description: text().nullable(),
    content: text(),
    platformOverrides: json<Record<string, string>>().nullable(),
    tags: texts(),
    revision: integer(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type ContentTemplate = InferEntity<typeof ContentTemplateEntity>;
