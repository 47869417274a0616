import { createHash } from 'node:crypto';
import { RECEIPT_RETENTION_DAYS } from '../../contract/limits.ts';
import type { Mode } from '../../contract/platforms.ts';
import type { Tx } from '../database.ts';

/** Whose key it is. Other credentials of the organization have their own key space. */
export interface ReceiptIdentity {
  organizationId: string;
  mode: Mode;
  lineage: string;
  key: string;
}

export interface StoredReceipt {
  id: string;
  route: Buffer;
  fingerprint: Buffer;
  status: number;
  contentType: string | null;
  location: string | null;
  etag: string | null;
  sealed: Buffer | null;
  workspaceIds: string[];
  requestId: string;
}

export interface MutationBegin {
  transactionId: string;
  /** Changes when the server starts again. */
  serverStartedAt: string;
  /** false: another request with the same identity is executing. */
  isLocked: boolean;
}

/**
 * First statement of a mutation's transaction: its id, by which a lost answer of COMMIT can be asked for, its time limit,
 * and the lock of its receipt, which ends with the transaction and with the connection.
 * @NOTE the receipt must be read by a later statement: this one's snapshot is older than the lock.
 */
export async function beginMutation(tx: Tx, options: { identity: ReceiptIdentity | null; timeoutMs: number }): Promise<MutationBegin> {
  const lock = options.identity === null ? 'true' : `pg_try_advisory_xact_lock(${lockNumber(options.identity)})`;
  const rows = await tx.execute<{ id: string; started: string; locked: boolean }[]>(
    `select pg_current_xact_id()::text as id, pg_postmaster_start_time()::text as started, set_config('transaction_timeout', ?, true), ${lock} as locked`,
    [`${options.timeoutMs}ms`],
  );
  const row = rows[0]!;
  return { transactionId: row.id, serverStartedAt: row.started, isLocked: row.locked };
}

function lockNumber(identity: ReceiptIdentity): string {
  const text = JSON.stringify([identity.organizationId, identity.mode, identity.lineage, identity.key]);
  return createHash('sha256').update(text).digest().readBigInt64BE().toString();
}

export async function findReceipt(tx: Tx, identity: ReceiptIdentity): Promise<StoredReceipt | null> {
  const rows = await tx.execute<Record<string, any>[]>(
    `select id, route, fingerprint, status, content_type, location, etag, sealed, workspace_ids, request_id from receipt
      where organization_id = ? and mode = ? and lineage = ? and key = ? and created_at > now() - interval '${RECEIPT_RETENTION_DAYS} days'`,
    [identity.organizationId, identity.mode, identity.lineage, identity.key],
  );
  const row = rows[0];
  return row === undefined ? null : {
    id: row.id, route: row.route, fingerprint: row.fingerprint, status: row.status, contentType: row.content_type, location: row.location,
    etag: row.etag, sealed: row.sealed, workspaceIds: row.workspace_ids, requestId: row.request_id,
  };
}

/** Writes the reply beside what it tells of. A row whose retention is over gives way. */
export async function storeReceipt(tx: Tx, identity: ReceiptIdentity, receipt: StoredReceipt): Promise<void> {
  await tx.execute(
    `insert into receipt (id, organization_id, mode, lineage, key, route, fingerprint, status, content_type, location, etag, sealed, workspace_ids, request_id, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, array[?]::text[], ?, now())
     on conflict (organization_id, mode, lineage, key) do update set
       id = excluded.id, route = excluded.route, fingerprint = excluded.fingerprint, status = excluded.status, content_type = excluded.content_type,
       location = excluded.location, etag = excluded.etag, sealed = excluded.sealed, workspace_ids = excluded.workspace_ids,
       request_id = excluded.request_id, created_at = excluded.created_at`,
    [
      receipt.id, identity.organizationId, identity.mode, identity.lineage, identity.key, receipt.route, receipt.fingerprint, receipt.status,
      receipt.contentType, receipt.location, receipt.etag, receipt.sealed, receipt.workspaceIds, receipt.requestId,
    ],
  );
}

/** What became of a transaction whose answer of COMMIT was lost; null = the server does not remember. */
export async function transactionState(tx: Tx, transactionId: string): Promise<{ state: 'in progress' | 'committed' | 'aborted' | null; serverStartedAt: string }> {
  const rows = await tx.execute<{ state: 'in progress' | 'committed' | 'aborted' | null; started: string }[]>(
    'select pg_xact_status(?::xid8) as state, pg_postmaster_start_time()::text as started', [transactionId],
  );
  return { state: rows[0]!.state, serverStartedAt: rows[0]!.started };
}
