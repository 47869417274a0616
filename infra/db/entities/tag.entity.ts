import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { id, instant, mode, text } from './columns.ts';

export const TagEntity = defineEntity({
  name: 'Tag',
  tableName: 'tag',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    workspaceId: text().nullable(),
    name: text(),
    color: text(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type Tag = InferEntity<typeof TagEntity>;

export const PostTagEntity = defineEntity({
  name: 'PostTag',
  tableName: 'post_tag',
  properties: {
    postId: p.string().columnType('text').primary(),
    tagId: p.string().columnType('text').primary(),
    organizationId: text(),
    mode: mode(),
    createdAt: instant(),
  },
});
export type PostTag = InferEntity<typeof PostTagEntity>;
