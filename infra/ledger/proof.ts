import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../db/database.ts';
import { AccountEntity } from '../db/entities/account.entity.ts';
import type { Operation } from '../db/entities/operation.entity.ts';
import { TargetEntity } from '../db/entities/target.entity.ts';
import type { Ruling } from './settlement.ts';

/**
 * Whether what a read found can be this operation's: no other target of the account holds it. Under the account's lock,
 * so that of two operations with equal texts only one takes the one post that is public.
 */
export async function isOurs(tx: Tx, operation: Operation, ruling: Ruling): Promise<boolean> {
  if (ruling.kind !== 'succeeded' || ruling.proof.platformPostId === null) return true;
  await tx.findOneOrFail(AccountEntity, { id: operation.accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const holders = await tx.count(TargetEntity, { accountId: operation.accountId, platformPostId: ruling.proof.platformPostId, id: { $ne: operation.targetId ?? '' } });
  return holders === 0;
}
