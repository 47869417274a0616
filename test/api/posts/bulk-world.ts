import { OutboxEntity, type OutboxRow } from '../../../infra/db/entities/outbox.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import type { World } from './world.ts';

/** Everything that accepting a post may write. */
const TABLES = ['post', 'target', 'operation', 'step', 'event', 'timeline_entry', 'outbox', 'post_tag', 'receipt', 'evidence', 'verdict'];

/** How many rows each of these tables has, and how many units are used. */
export async function rowCounts(world: World): Promise<Record<string, number>> {
  const counts = TABLES.map((table) => `(select count(*)::integer from ${table}) as ${table}`);
  const [row] = await inScope(world.api.infra.db, SYSTEM, (tx) => tx.execute<Record<string, number>[]>(`select ${counts.join(', ')}, (select coalesce(sum(units), 0)::integer from usage_counter) as units`));
  return row!;
}

/** The rows by which Temporal will hear of these posts, in their order. */
export async function startsOf(world: World, postIds: readonly string[]): Promise<OutboxRow[]> {
  const rows = await inScope(world.api.infra.db, SYSTEM, (tx) => tx.find(OutboxEntity, { id: { $in: postIds.map((id) => `start:post/${id}/1`) } }));
  return postIds.flatMap((id) => rows.filter((row) => row.id === `start:post/${id}/1`));
}
