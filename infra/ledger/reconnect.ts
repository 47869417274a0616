import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../db/database.ts';
import { AccountEntity } from '../db/entities/account.entity.ts';
import { TargetEntity } from '../db/entities/target.entity.ts';
import { writeAccountReconnect } from '../db/repositories/events.ts';

/** Nothing more is sent with this credential; a person has to connect again. A reply to an older credential changes nothing. */
export async function requireReconnect(tx: Tx, accountId: string, change: { reason: string; generation: number; now: Date }): Promise<void> {
  const account = await tx.findOneOrFail(AccountEntity, { id: accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (account.status !== 'active' || account.credentialGeneration !== change.generation) return;
  Object.assign(account, { status: 'reconnect_required', statusReason: change.reason, updatedAt: change.now });
  const scheduled = await tx.count(TargetEntity, { accountId, status: { $in: ['draft', 'scheduled'] } });
  writeAccountReconnect(tx, account, scheduled, change.now);
}
