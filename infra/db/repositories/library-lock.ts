import type { Tx } from '../database.ts';

const LIBRARY = 4401;

/**
 * Lets one transaction at a time change the library rows of this kind in its organization and mode, so that their number,
 * their names and their defaults can be looked at before they are written. Ends with the transaction.
 * @NOTE it is taken before any row is locked; rows that are read after it are as the one before left them.
 */
export async function lockLibrary(tx: Tx, kind: 'signature' | 'template' | 'tag' | 'queue'): Promise<void> {
  await tx.execute(`select pg_advisory_xact_lock(${LIBRARY}, hashtext(concat_ws(' ', ?::text, current_setting('app.org'), current_setting('app.mode'))))`, [kind]);
}
