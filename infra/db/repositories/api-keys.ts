import { timingSafeEqual } from 'node:crypto';
import type { Mode } from '../../contract/platforms.ts';
import type { Database, Tx } from '../database.ts';
import { askAlone, SYSTEM } from '../tenant.ts';

/** A key and its organization, as one query reads them. */
export interface KeyRow {
  id: string;
  organizationId: string;
  mode: Mode;
  permissions: string[];
  workspaceScope: string[] | null;
  enabled: boolean;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  pepperId: string;
  digest: Buffer;
  organization: {
    status: 'active' | 'suspended' | 'deleting';
    plan: 'free' | 'pro';
    quotaMode: 'hard' | 'metered' | 'unlimited';
    quotaUnits: number | null;
    ratePerMinute: number | null;
    requireWorkspaceId: boolean;
  };
}

/** What a presented secret looks like under one pepper. */
export interface PepperedDigest {
  pepperId: string;
  digest: Buffer;
}

/** The key of a presented secret. In the system scope: nobody knows yet whose key it is. */
export async function findKeyByDigest(db: Database, digests: readonly PepperedDigest[]): Promise<KeyRow | null> {
  const rows = await askAlone<Record<string, any>>(db, SYSTEM, {
    sql: `select k.id, k.organization_id, k.mode, k.permissions, k.workspace_scope, k.enabled, k.expires_at, k.last_used_at, k.pepper_id, k.digest,
            o.status, o.plan, o.quota_mode, o.quota_units, o.rate_per_minute, o.require_workspace_id
       from api_key k join organization o on o.id = k.organization_id where k.digest in (?)`,
    params: [digests.map((one) => one.digest)],
  });
  const row = rows.find((one) => digests.some((digest) => digest.pepperId === one.pepper_id && timingSafeEqual(digest.digest, one.digest as Buffer)));
  return row === undefined ? null : toKeyRow(row);
}

function toKeyRow(row: Record<string, any>): KeyRow {
  return {
    id: row.id, organizationId: row.organization_id, mode: row.mode, permissions: row.permissions, workspaceScope: row.workspace_scope,
    enabled: row.enabled, expiresAt: row.expires_at === null ? null : new Date(row.expires_at), lastUsedAt: row.last_used_at === null ? null : new Date(row.last_used_at),
    pepperId: row.pepper_id, digest: row.digest,
    organization: {
      status: row.status, plan: row.plan, quotaMode: row.quota_mode, quotaUnits: row.quota_units, ratePerMinute: row.rate_per_minute,
      requireWorkspaceId: row.require_workspace_id,
    },
  };
}

/** Notes the use of a key, and moves its digest to the active pepper while the secret is at hand. */
export async function noteKeyUse(tx: Tx, use: { keyId: string; at: Date; digest: PepperedDigest; replaces: Buffer }): Promise<void> {
  await tx.execute(
    'update api_key set last_used_at = ?, pepper_id = ?, digest = ? where id = ? and digest = ?',
    [use.at, use.digest.pepperId, use.digest.digest, use.keyId, use.replaces],
  );
}
