import { ApiError } from '../../contract/errors.ts';
import type { Mode } from '../../contract/platforms.ts';
import type { Tx } from '../database.ts';

/** Where nothing is refused, the month's units lie in several rows, so that posts of one organization do not wait for each other's commit. */
const SHARDS = 16;
/** One for all that a transaction takes: two that took several in different order would wait for each other for ever. */
const SHARD_OF_TRANSACTION = `1 + (pg_current_xact_id()::text::bigint % ${SHARDS - 1})`;

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
  const limit = limitOf(of);
  const refuses = limit !== null && of.organization.quotaMode === 'hard';
  const rows = await tx.execute<{ used: number }[]>(
    `insert into usage_counter as own (organization_id, mode, period, shard, units) values (?, ?, ?, ${refuses ? '0' : SHARD_OF_TRANSACTION}, ?)
     on conflict (organization_id, mode, period, shard) do update set units = own.units + excluded.units
     returning own.units + coalesce((select sum(other.units) from usage_counter other
       where other.organization_id = own.organization_id and other.mode = own.mode and other.period = own.period and other.shard <> own.shard), 0)::integer as used`,
    [of.organizationId, of.mode, periodOf(now), units],
  );
  const used = rows[0]!.used;
  if (refuses && used > limit) throw quotaExceeded({ used: used - units, limit, requested: units, now });
  return { used, limit };
}

/** What is used of the UTC month, with what this transaction took. */
export async function readUsage(tx: Tx, { of, now }: { of: Account; now: Date }): Promise<Usage> {
  const rows = await tx.execute<{ used: number }[]>(
    'select coalesce(sum(units), 0)::integer as used from usage_counter where organization_id = ? and mode = ? and period = ?', [of.organizationId, of.mode, periodOf(now)]);
  return { used: rows[0]!.used, limit: limitOf(of) };
}

export function usageHeaders({ used, limit }: Usage): Record<string, string> {
  return { 'X-Usage-Count': String(used), 'X-Usage-Limit': limit === null ? 'unlimited' : String(limit) };
}

function limitOf(of: Account): number | null {
  return of.mode === 'test' || of.organization.quotaMode === 'unlimited' ? null : of.organization.quotaUnits;
}

function periodOf(now: Date): string {
  return now.toISOString().slice(0, 7);
}

function quotaExceeded({ used, limit, requested, now }: { used: number; limit: number; requested: number; now: Date }): ApiError {
  const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
  return new ApiError('QUOTA_EXCEEDED', `The ${limit} units of this month are used. Wait for ${resetsAt}, or ask for a larger plan.`, {
    details: { used, limit, resets_at: resetsAt, requested },
    headers: usageHeaders({ used, limit }),
  });
}
