import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '../infra/contract/errors.ts';
import { COMMIT_INQUIRY_TIMEOUT_MS } from '../infra/contract/limits.ts';
import type { Database, Tx } from '../infra/db/database.ts';
import { findReceipt, transactionState, type MutationBegin, type ReceiptIdentity } from '../infra/db/repositories/receipts.ts';
import { flush } from '../infra/db/rows.ts';
import { inScope, type Scope } from '../infra/db/tenant.ts';
import { databaseIsAway, serviceUnavailable } from './faults.ts';

const ASK_AGAIN_MS = 200;

export interface Mutation {
  db: Database;
  scope: Scope;
  identity: ReceiptIdentity | null;
  requestId: string;
}

type Fate = 'committed' | 'aborted' | 'unknown';

/**
 * Runs a mutation's transaction. When the answer of COMMIT is lost, the database is asked what became of it:
 * without a key, no client is ever invited to repeat what may have been done.
 */
export async function mutate<T>(mutation: Mutation, work: (tx: Tx) => Promise<{ begin: MutationBegin; result: T }>): Promise<T> {
  let done: { begin: MutationBegin; result: T } | undefined;
  try {
    await inScope(mutation.db, mutation.scope, async (tx) => {
      const finished = await work(tx);
      await flush(tx);
      // From here on the only statement left is COMMIT.
      done = finished;
    });
  } catch (error) {
    if (done === undefined) throw error;
    return afterLostCommit(mutation, done, error);
  }
  return done!.result;
}

async function afterLostCommit<T>(mutation: Mutation, done: { begin: MutationBegin; result: T }, error: unknown): Promise<T> {
  const fate = await fateOf(mutation, done.begin);
  if (fate === 'committed') return done.result;
  if (fate === 'aborted') throw databaseIsAway(error) ? serviceUnavailable() : error;
  // With a key the receipt decides on the next try.
  if (mutation.identity !== null) throw serviceUnavailable('The outcome could not be learned yet. Send the same request again with the same Idempotency-Key.');
  throw new ApiError('INTERNAL_ERROR', 'The connection to the database was lost while this was being stored, so it may or may not have been done. Look before you send it again.', {
    details: { outcome: 'unknown' }, headers: { 'x-should-retry': 'false' }, cause: error,
  });
}

async function fateOf(mutation: Mutation, begin: MutationBegin): Promise<Fate> {
  const deadline = performance.now() + COMMIT_INQUIRY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const fate = await inScope(mutation.db, mutation.scope, (tx) => askFate(tx, mutation, begin)).catch(ofCrashedServer);
    if (fate !== null) return fate;
    await pause(ASK_AGAIN_MS);
  }
  return 'unknown';
}

/**
 * null: not known yet. A receipt of this request is proof by itself. The id of a transaction is one only on the server that
 * gave it, because after a crash the same id may be given again.
 */
async function askFate(tx: Tx, mutation: Mutation, begin: MutationBegin): Promise<Fate | null> {
  if (mutation.identity !== null) {
    const receipt = await findReceipt(tx, mutation.identity);
    if (receipt?.requestId === mutation.requestId) return 'committed';
  }
  const { state, serverStartedAt } = await transactionState(tx, begin.transactionId);
  if (state === 'aborted') return 'aborted';
  if (state === 'committed' && mutation.identity === null) return serverStartedAt === begin.serverStartedAt ? 'committed' : 'unknown';
  return null;
}

/** A server that lost its last moments in a crash has never heard of this id, so nothing of it was kept. Any other error: ask again. */
function ofCrashedServer(error: unknown): Fate | null {
  return (error as { code?: unknown }).code === '22023' ? 'aborted' : null;
}
