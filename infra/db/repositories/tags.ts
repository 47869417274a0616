import { LockMode } from '@mikro-orm/core';
import { newId } from '../../contract/ids.ts';
import type { Tx } from '../database.ts';
import type { Post } from '../entities/post.entity.ts';
import { PostTagEntity, TagEntity, type Tag } from '../entities/tag.entity.ts';
import { columnsOf, rowOf } from '../joined.ts';
import { insertOf } from '../rows.ts';
import type { PostState } from './events.ts';

const TAG = { alias: 't', entity: TagEntity };

/** What lists of tags are ordered by: the case of a name says nothing. */
export const TAG_NAME = 'lower(t.name)';

/** Of those that exist, in any order. They stay until the transaction ends, so that what is given them finds them at its commit. */
export async function findTags(tx: Tx, ids: readonly string[]): Promise<Tag[]> {
  if (ids.length === 0) return [];
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, TAG)} from tag t where t.id in (?) order by t.id for key share`, [ids]);
  return rows.map((row) => rowOf(tx, TAG, row)!);
}

/** Of any workspace, by names in lower case. Locked as `findTags` does. */
export async function findTagsByName(tx: Tx, names: readonly string[]): Promise<Tag[]> {
  if (names.length === 0) return [];
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, TAG)} from tag t where ${TAG_NAME} in (?) order by t.id for key share`, [names]);
  return rows.map((row) => rowOf(tx, TAG, row)!);
}

export async function findTag(tx: Tx, id: string, options: { forUpdate?: boolean } = {}): Promise<Tag | null> {
  return tx.findOne(TagEntity, { id }, options.forUpdate === true ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
}

/** A tag with its name as the order of the list takes it. */
export interface ListedTag {
  tag: Tag;
  sortName: string;
}

/** `condition` is written on `t`. */
export async function listTags(tx: Tx, condition: { sql: string; params: unknown[]; order: string }): Promise<ListedTag[]> {
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, TAG)}, ${TAG_NAME} as sort_name from tag t where ${condition.sql} ${condition.order}`, condition.params);
  return rows.map((row) => ({ tag: rowOf(tx, TAG, row)!, sortName: row.sort_name as string }));
}

export async function countTags(tx: Tx): Promise<number> {
  return tx.count(TagEntity);
}

/** Whether another tag of the scope has this name, in whatever case. */
export async function isTagNameTaken(tx: Tx, tag: { name: string; workspaceId: string | null; id: string | null }): Promise<boolean> {
  const rows = await tx.execute<unknown[]>('select 1 from tag where lower(name) = lower(?) and workspace_id is not distinct from ? and id is distinct from ? limit 1', [tag.name, tag.workspaceId, tag.id]);
  return rows.length > 0;
}

export function insertTag(tx: Tx, fields: Pick<Tag, 'organizationId' | 'mode' | 'workspaceId' | 'name' | 'color'>, now: Date): Tag {
  return tx.create(TagEntity, { id: newId('tag'), ...fields, createdAt: now, updatedAt: now }, { persist: true });
}

export async function deleteTag(tx: Tx, { id }: Tag): Promise<void> {
  await tx.nativeDelete(TagEntity, { id });
}

/** The tags must have come from `findTags`. The post may be a row that is not written yet. */
export async function replacePostTags(tx: Tx, post: Pick<Post, 'id' | 'organizationId' | 'mode'>, tagIds: readonly string[], now: Date): Promise<void> {
  if (tagIds.length === 0) {
    await tx.execute('delete from post_tag where post_id = ?', [post.id]);
    return;
  }
  await tx.execute('delete from post_tag where post_id = ? and tag_id not in (?)', [post.id, tagIds]);
  const rows = [...new Set(tagIds)].map((tagId) => ({ postId: post.id, tagId, organizationId: post.organizationId, mode: post.mode, createdAt: now }));
  const { sql, params } = insertOf(tx, PostTagEntity, rows);
  await tx.execute(`${sql} on conflict do nothing`, params);
}

/** The tag must have come from `findTags`. Given already, it stays given. */
export async function addTagOfPost(tx: Tx, post: Pick<Post, 'id' | 'organizationId' | 'mode'>, tagId: string, now: Date): Promise<void> {
  const { sql, params } = insertOf(tx, PostTagEntity, [{ postId: post.id, tagId, organizationId: post.organizationId, mode: post.mode, createdAt: now }]);
  await tx.execute(`${sql} on conflict do nothing`, params);
}

export async function removeTagOfPost(tx: Tx, postId: string, tagId: string): Promise<void> {
  await tx.execute('delete from post_tag where post_id = ? and tag_id = ?', [postId, tagId]);
}

/** Of each post in order of name, in one statement. Posts without tags are absent. */
export async function tagsOfPosts(tx: Tx, postIds: readonly string[]): Promise<Map<string, Tag[]>> {
  if (postIds.length === 0) return new Map();
  const rows = await tx.execute<Record<string, unknown>[]>(
    `select p.post_id, ${columnsOf(tx, TAG)} from post_tag p join tag t on t.id = p.tag_id where p.post_id in (?) order by ${TAG_NAME}, t.id`, [postIds]);
  const ofPost = Map.groupBy(rows, (row) => row.post_id as string);
  return new Map([...ofPost].map(([postId, found]) => [postId, found.map((row) => rowOf(tx, TAG, row)!)]));
}

/** A post that was read under its lock, to be shown. */
export async function withTags(tx: Tx, state: PostState): Promise<PostState> {
  return { ...state, tags: (await tagsOfPosts(tx, [state.post.id])).get(state.post.id) ?? [] };
}
