import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { flag, id, instant, integer, text } from './columns.ts';

export const OrganizationEntity = defineEntity({
  name: 'Organization',
  tableName: 'organization',
  properties: {
    id: id(),
    name: text(),
    slug: text(),
    status: text().$type<'active' | 'suspended' | 'deleting'>(),
    plan: text().$type<'free' | 'pro'>(),
    quotaMode: text().$type<'hard' | 'metered' | 'unlimited'>(),
    quotaUnits: integer().nullable(),
    /** null = the limits are off. */
    ratePerMinute: integer().nullable(),
    requireWorkspaceId: flag(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type Organization = InferEntity<typeof OrganizationEntity>;
