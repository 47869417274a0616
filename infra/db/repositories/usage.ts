import { randomInt } from 'node:crypto';
import { ApiError } from '../../contract/errors.ts';
import type { Mode } from '../../contract/platforms.ts';
import type { Tx } from '../database.ts';

/** Where nothing is refused, the month's units lie in several rows, so that posts of one organization do not wait for each other's commit. */
const SHARDS = 16;

export interface Account {
  organizationId: string;
  mode: Mode;
  organization: { quotaMode: 'hard' | 'metered' | 'unlimited'; quotaUnits: number | null };
}

export interface Usage {
  used: number;
  /** null = no limit. */
  limit: number | null;
}

/**
 * Takes units of the UTC month in the transaction of the write: a rollback costs nothing. Call it last, because the
 * row of a limited organization stays locked until the commit. Test mode is counted apart and has no limit.
 */
export async function takeUnits(tx: Tx, request: { of: Account; units: number; now: Date }): Promise<Usage> {
  const { of, units, now } = request;
  const limit = of.mode === 'test' || of.organization.quotaMode === 'unlimited' ? null : of.organization.quotaUnits;
  const refuses = limit !== null && of.organization.quotaMode === 'hard';
  const period = now.toISOString().slice(0, 7);
  const rows = await tx.execute<{ used: number }[]>(
    `insert into usage_counter as own (organization_id, mode, period, shard, units) values (?, ?, ?, ?, ?)
     on conflict (organization_id, mode, period, shard) do update set units = own.units + excluded.units
     returning own.units + coalesce((select sum(other.units) from usage_counter other
       where other.organization_id = own.organization_id and other.mode = own.mode and other.period = own.period and other.shard <> own.shard), 0)::integer as used`,
    [of.organizationId, of.mode, period, refuses ? 0 : randomInt(1, SHARDS), units],
  );
  const used = rows[0]!.used;
  if (refuses && used > limit) throw quotaExceeded({ used: used - units, limit, requested: units, now });
  return { used, limit };
}

export function usageHeaders({ used, limit }: Usage): Record<string, string> {
  return { 'X-Usage-Count': String(used), 'X-Usage-Limit': limit === null ? 'unlimited' : String(limit) };
}

function quotaExceeded({ used, limit, requested, now }: { used: number; limit: number; requested: number; now: Date }): ApiError {
  const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
  return new ApiError('QUOTA_EXCEEDED', `The ${limit} units of this month are used. Wait for ${resetsAt}, or ask for a larger plan.`, {
    details: { used, limit, resets_at: resetsAt, requested },
    headers: usageHeaders({ used, limit }),
  });
}
