import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import type { System } from './system.ts';

/**
 * That a platform does not show a post is proof only after a minute of it (faults/magic-words.test.ts waits for it). Here the
 * minute is moved in the row, once the first read has begun it; the reads that the proof takes come when they come. To be
 * repeated until the proof is there, because a read that is under way writes its own beginning over this one.
 */
export async function putAbsenceBack(system: System, operationId: string): Promise<void> {
  await inScope(system.db, SYSTEM, (tx) => tx.execute(
    `update operation set absent_since = unknown_since - interval '1 minute' where id = ? and status = 'unknown' and absent_since > unknown_since`, [operationId]));
}
