import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../db/database.ts';
import { AccountEntity } from '../db/entities/account.entity.ts';
import type { Operation } from '../db/entities/operation.entity.ts';
import type { Ruling } from './settlement.ts';

type Attempt = Pick<Operation, 'id' | 'accountId' | 'targetId' | 'attempt'>;

/** Of these platform ids, those that are known to be of another target of the account, or of another attempt at this one. */
export async function heldByOthers(tx: Tx, { id, accountId, targetId }: Attempt, platformPostIds: readonly string[]): Promise<string[]> {
  const rows = await tx.execute<{ id: string }[]>(
    `select platform_post_id as id from target where account_id = ? and platform_post_id in (?) and id <> ?
      union select result ->> 'platform_post_id' from operation where target_id = ? and id <> ? and status = 'succeeded' and result ->> 'platform_post_id' in (?)`,
    [accountId, [...platformPostIds], targetId ?? '', targetId ?? '', id, [...platformPostIds]]);
  return rows.map((row) => row.id);
}

/**
 * Whether what a read found can be this operation's: nobody else holds it, and no later attempt at the same target may have
 * made it and not said so yet. Under the account's lock, so that of two operations with equal texts only one takes the one
 * post that is public.
 */
export async function isOurs(tx: Tx, operation: Operation, ruling: Ruling): Promise<boolean> {
  if (ruling.kind !== 'succeeded' || ruling.proof.platformPostId === null) return true;
  await tx.findOneOrFail(AccountEntity, { id: operation.accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return (await heldByOthers(tx, operation, [ruling.proof.platformPostId])).length === 0 && !(await isLaterUnsettled(tx, operation));
}

async function isLaterUnsettled(tx: Tx, { targetId, attempt }: Attempt): Promise<boolean> {
  const rows = await tx.execute<unknown[]>(`select from operation where target_id = ? and attempt > ? and status in ('sending', 'unknown') limit 1`, [targetId ?? '', attempt]);
  return rows.length > 0;
}
