import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { flag, id, instant, integer, mode, text } from './columns.ts';

export const SignatureEntity = defineEntity({
  name: 'Signature',
  tableName: 'signature',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    /** null = the organization's. */
    workspaceId: text().nullable(),
    name: text(),
    content: text(),
    position: text().$type<'append' | 'prepend'>(),
    isDefault: flag(),
    revision: integer(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type Signature = InferEntity<typeof SignatureEntity>;
