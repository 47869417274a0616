import type { Tx } from '../database.ts';
import { OperationEntity, type Operation } from '../entities/operation.entity.ts';

/** Every attempt to publish the targets of a post, first attempt first, by target. */
export async function publishOperationsOf(tx: Tx, postId: string): Promise<Map<string, Operation[]>> {
  const operations = await tx.find(OperationEntity, { postId, kind: 'publish' }, { orderBy: [{ attempt: 'asc' }, { id: 'asc' }] });
  return Map.groupBy(operations, (operation) => operation.subjectId);
}
