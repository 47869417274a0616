import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../db/database.ts';
import { AccountEntity } from '../db/entities/account.entity.ts';
import { writeAccountReconnect } from '../db/repositories/events.ts';

/** Nothing more is sent with this credential; a person has to connect again. A reply to an older credential changes nothing. */
export async function requireReconnect(tx: Tx, accountId: string, change: { reason: string; generation: number; now: Date }): Promise<void> {
  const account = await tx.findOneOrFail(AccountEntity, { id: accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (account.status !== 'active' || account.credentialGeneration !== change.generation) return;
  Object.assign(account, { status: 'reconnect_required', statusReason: change.reason, updatedAt: change.now });
  writeAccountReconnect(tx, account, await countWaiting(tx, accountId), change.now);
}

/** Targets of posts that are still there: a deleted one keeps its rows, and nobody waits for them. */
async function countWaiting(tx: Tx, accountId: string): Promise<number> {
  const [row] = await tx.execute<{ count: string }[]>(
    `select count(*) as count from target join post on post.id = target.post_id where target.account_id = ? and target.status in ('draft', 'scheduled') and post.deleted_at is null`, [accountId]);
  return Number(row!.count);
}
