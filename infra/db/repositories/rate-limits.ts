import type { Tx } from '../database.ts';

/** A token bucket that holds the requests of one minute. */
export interface Bucket {
  id: string;
  perMinute: number;
}

export interface BucketLevel {
  id: string;
  /** Whole tokens left. */
  left: number;
  secondsUntilFull: number;
  /** 0 when a token was there. */
  secondsUntilToken: number;
}

export interface Taking {
  isGranted: boolean;
  levels: BucketLevel[];
}

const WINDOW_SECONDS = 60;

/**
 * Takes one token of each bucket, or none of any: the generic cell rate algorithm in one statement. A row holds the time at
 * which its bucket will be full again. Rows are locked in the order of their ids, so two requests never wait for each other.
 */
export async function takeTokens(tx: Tx, buckets: readonly Bucket[]): Promise<Taking> {
  const rows = await tx.execute<{ id: string; full_at: number; now: number; step: number; granted: boolean }[]>(
    `with asked as (select unnest(array[?]::text[]) as id, unnest(array[?]::float8[]) as step),
          clock as materialized (select extract(epoch from clock_timestamp())::float8 as now),
          held as materialized (select id, full_at from rate_bucket where id in (select id from asked) order by id for update),
          level as materialized (
            select asked.id, asked.step, clock.now, greatest(coalesce(held.full_at, 0), clock.now) as full_at
              from asked cross join clock left join held on held.id = asked.id),
          verdict as materialized (select bool_and(full_at + step - now <= ${WINDOW_SECONDS} + 1e-6) as granted from level),
          taken as (
            insert into rate_bucket (id, full_at) select level.id, level.full_at + level.step from level, verdict where verdict.granted order by level.id
            on conflict (id) do update set full_at = greatest(rate_bucket.full_at, excluded.full_at))
     select level.id, level.full_at, level.now, level.step, verdict.granted from level, verdict`,
    [buckets.map((bucket) => bucket.id), buckets.map((bucket) => WINDOW_SECONDS / bucket.perMinute)],
  );
  const isGranted = rows[0]!.granted;
  return { isGranted, levels: buckets.map((bucket) => levelOf(rows.find((row) => row.id === bucket.id)!, isGranted)) };
}

function levelOf(row: { id: string; full_at: number; now: number; step: number }, isGranted: boolean): BucketLevel {
  const owed = row.full_at - row.now + (isGranted ? row.step : 0);
  return {
    id: row.id,
    left: Math.max(0, Math.floor((WINDOW_SECONDS - owed) / row.step + 1e-6)),
    secondsUntilFull: Math.ceil(Math.max(0, owed)),
    secondsUntilToken: Math.max(0, owed + row.step - WINDOW_SECONDS),
  };
}
