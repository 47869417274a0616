import { isId } from '../../contract/ids.ts';
import type { Tx } from '../database.ts';

export interface WorkspaceRow {
  id: string;
  name: string;
  status: 'active' | 'archived' | 'erasing';
}

/** A workspace of the transaction's organization; others do not exist for it. */
export async function findWorkspace(tx: Tx, id: string): Promise<WorkspaceRow | null> {
  if (!isId('workspace', id)) return null;
  const rows = await tx.execute<WorkspaceRow[]>('select id, name, status from workspace where id = ?', [id]);
  return rows[0] ?? null;
}
