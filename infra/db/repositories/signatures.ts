import { LockMode } from '@mikro-orm/core';
import { newId } from '../../contract/ids.ts';
import type { Tx } from '../database.ts';
import { SignatureEntity, type Signature } from '../entities/signature.entity.ts';
import { columnsOf, rowOf } from '../joined.ts';

const SIGNATURE = { alias: 's', entity: SignatureEntity };

export async function findSignature(tx: Tx, id: string, options: { forUpdate?: boolean } = {}): Promise<Signature | null> {
  return tx.findOne(SignatureEntity, { id }, options.forUpdate === true ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
}

/** The signature of new texts: the workspace's default, else the organization's. */
export async function findApplicableSignature(tx: Tx, workspaceId: string | null): Promise<Signature | null> {
  const [row] = await tx.execute<Record<string, unknown>[]>(
    `select ${columnsOf(tx, SIGNATURE)} from signature s where s.is_default and (s.workspace_id is null or s.workspace_id = ?) order by s.workspace_id nulls last limit 1`, [workspaceId]);
  return row === undefined ? null : rowOf(tx, SIGNATURE, row);
}

/** `condition` is written on `s`. */
export async function listSignatures(tx: Tx, condition: { sql: string; params: unknown[]; order: string }): Promise<Signature[]> {
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, SIGNATURE)} from signature s where ${condition.sql} ${condition.order}`, condition.params);
  return rows.map((row) => rowOf(tx, SIGNATURE, row)!);
}

export async function countSignatures(tx: Tx): Promise<number> {
  return tx.count(SignatureEntity);
}

export function insertSignature(tx: Tx, fields: Pick<Signature, 'organizationId' | 'mode' | 'workspaceId' | 'name' | 'content' | 'position' | 'isDefault'>, now: Date): Signature {
  return tx.create(SignatureEntity, { id: newId('signature'), ...fields, revision: 1, createdAt: now, updatedAt: now }, { persist: true });
}

export async function deleteSignature(tx: Tx, { id }: Signature): Promise<void> {
  await tx.nativeDelete(SignatureEntity, { id });
}

/** Takes the default from another one of the scope, before this one is written: the index that keeps defaults single does not wait for the end. */
export async function unsetDefaultSignature(tx: Tx, { id, workspaceId = null }: Pick<Signature, 'id' | 'workspaceId'>, now: Date): Promise<void> {
  await tx.execute(
    'update signature set is_default = false, revision = revision + 1, updated_at = ? where is_default and workspace_id is not distinct from ? and id <> ?',
    [now, workspaceId, id],
  );
}
