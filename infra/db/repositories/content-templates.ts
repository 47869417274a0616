import { LockMode } from '@mikro-orm/core';
import { newId } from '../../contract/ids.ts';
import type { Tx } from '../database.ts';
import { ContentTemplateEntity, type ContentTemplate } from '../entities/content-template.entity.ts';
import { columnsOf, rowOf } from '../joined.ts';

const TEMPLATE = { alias: 't', entity: ContentTemplateEntity };

export async function findTemplate(tx: Tx, id: string, options: { forUpdate?: boolean } = {}): Promise<ContentTemplate | null> {
  return tx.findOne(ContentTemplateEntity, { id }, options.forUpdate === true ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
}

/** `condition` is written on `t`. */
export async function listTemplates(tx: Tx, condition: { sql: string; params: unknown[]; order: string }): Promise<ContentTemplate[]> {
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, TEMPLATE)} from content_template t where ${condition.sql} ${condition.order}`, condition.params);
  return rows.map((row) => rowOf(tx, TEMPLATE, row)!);
}

export async function countTemplates(tx: Tx): Promise<number> {
  return tx.count(ContentTemplateEntity);
}

type Fields = Pick<ContentTemplate, 'organizationId' | 'mode' | 'workspaceId' | 'name' | 'description' | 'content' | 'platformOverrides' | 'tags'>;

export function insertTemplate(tx: Tx, fields: Fields, now: Date): ContentTemplate {
  return tx.create(ContentTemplateEntity, { id: newId('template'), ...fields, revision: 1, createdAt: now, updatedAt: now }, { persist: true });
}

export async function deleteTemplate(tx: Tx, { id }: ContentTemplate): Promise<void> {
  await tx.nativeDelete(ContentTemplateEntity, { id });
}
