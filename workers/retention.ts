import { DELETED_POST_READABLE_MS, RECEIPT_RETENTION_DAYS } from '../infra/contract/limits.ts';
import type { Infra } from '../infra/context.ts';
import type { Tx } from '../infra/db/database.ts';
import { PostEntity } from '../infra/db/entities/post.entity.ts';
import { notePost } from '../infra/db/repositories/timeline.ts';
import { inScope, SYSTEM } from '../infra/db/tenant.ts';

const FORGET_BATCH = 1_000;
const ERASE_BATCH = 100;

/** What is kept for a time only. In batches, so that no sweep is long. */
export async function forgetOld({ db, clock }: Infra): Promise<void> {
  const now = clock.now();
  const old = new Date(now.getTime() - RECEIPT_RETENTION_DAYS * 86_400_000);
  await inScope(db, SYSTEM, async (tx) => {
    await tx.execute('delete from receipt where id in (select id from receipt where created_at < ? order by created_at limit ?)', [old, FORGET_BATCH]);
    // A bucket that is full again says no more than none.
    await tx.execute('delete from rate_bucket where id in (select id from rate_bucket where full_at < ? order by full_at limit ?)', [now.getTime() / 1000 - 60, FORGET_BATCH]);
  });
  await inScope(db, SYSTEM, (tx) => eraseDeleted(tx, now));
}

/** Of a post that was deleted long ago the words go; ids and outcomes stay with the ledger. */
async function eraseDeleted(tx: Tx, now: Date): Promise<void> {
  const rows = await tx.execute<{ id: string }[]>(
    'select id from post where deleted_at < ? and erased_at is null order by deleted_at limit ? for update skip locked', [new Date(now.getTime() - DELETED_POST_READABLE_MS), ERASE_BATCH]);
  if (rows.length === 0) return;
  const ids = rows.map((row) => row.id);
  await tx.execute('update post set content = null, text_source = default, media = null, target_options = null, notes = null, signature = null, auto_schedule = null, erased_at = ? where id in (?)', [now, ids]);
  await tx.execute("update target set text = null, options = '{}', media = '[]', fingerprint = null where post_id in (?)", [ids]);
  await tx.execute(`update event set data = data || '{"content": null}' where subject_type = 'post' and subject_id in (?) and data ->> 'content' is not null`, [ids]);
  for (const post of await tx.find(PostEntity, { id: { $in: ids } })) notePost(tx, post, [{ type: 'swept', message: 'The words of the deleted post were erased; ids and outcomes stay.' }], now);
}
