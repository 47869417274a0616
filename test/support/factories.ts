import { newId } from '../../infra/contract/ids.ts';
import type { Mode, Platform } from '../../infra/contract/platforms.ts';
import { BEARER_PREFIXES, bearerDigest, bearerHints, newBearer } from '../../infra/crypto/bearer.ts';
import type { Infra } from '../../infra/context.ts';
import { AccountEntity, type Account } from '../../infra/db/entities/account.entity.ts';
import { ApiKeyEntity } from '../../infra/db/entities/api-key.entity.ts';
import { OrganizationEntity, type Organization } from '../../infra/db/entities/organization.entity.ts';
import { WorkspaceEntity, type Workspace } from '../../infra/db/entities/workspace.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';

type Store = Pick<Infra, 'db' | 'secrets'>;

/** A key and the secret that only its maker knows. */
export interface TestKey {
  id: string;
  organizationId: string;
  mode: Mode;
  secret: string;
}

/** Rows with defaults: a test names only what it is about. */
export async function organization(infra: Store, more: Partial<Organization> = {}): Promise<Organization> {
  const id = newId('organization');
  const now = new Date();
  const row = {
    id, name: 'Test', slug: id.slice(4), status: 'active', plan: 'pro', quotaMode: 'unlimited', quotaUnits: null, ratePerMinute: null,
    requireWorkspaceId: false, createdAt: now, updatedAt: now, ...more,
  } as Organization;
  await inScope(infra.db, SYSTEM, (tx) => tx.insert(OrganizationEntity, row));
  return row;
}

/** Of an organization of its own, unless one is named. */
export async function apiKey(infra: Store, options: {
  organizationId?: string; mode?: Mode; permissions?: string[]; workspaceScope?: string[] | null; enabled?: boolean; expiresAt?: Date | null; pepper?: number;
} = {}): Promise<TestKey> {
  const { organizationId = (await organization(infra)).id, mode = 'test', permissions = ['read', 'write', 'reconcile'], workspaceScope = null, enabled = true, expiresAt = null, pepper = 0 } = options;
  const id = newId('key');
  const now = new Date();
  const secret = newBearer(BEARER_PREFIXES[mode]);
  const ring = infra.secrets.peppers[pepper]!;
  await inScope(infra.db, SYSTEM, (tx) => tx.insert(ApiKeyEntity, {
    id, organizationId, mode, name: 'test', digest: bearerDigest(ring, secret), pepperId: ring.id, ...bearerHints(BEARER_PREFIXES[mode], secret),
    permissions, workspaceScope, enabled, expiresAt, lastUsedAt: null, createdAt: now, updatedAt: now,
  }));
  return { id, organizationId, mode, secret };
}

export async function workspace(infra: Store, options: { organizationId: string; name?: string; status?: Workspace['status'] }): Promise<Workspace> {
  const id = newId('workspace');
  const now = new Date();
  const row = { id, organizationId: options.organizationId, name: options.name ?? 'Brand', slug: id.slice(3), status: options.status ?? 'active', createdAt: now, updatedAt: now } as Workspace;
  await inScope(infra.db, SYSTEM, (tx) => tx.insert(WorkspaceEntity, row));
  return row;
}

export async function account(infra: Store, options: { organizationId: string; mode?: Mode; platform?: Platform } & Partial<Account>): Promise<Account> {
  const { mode = 'test', platform = 'twitter' } = options;
  const id = newId('account');
  const now = new Date();
  const row = {
    id, mode, platform, workspaceId: null, platformAccountId: id.slice(4), username: `sandbox_${platform}`, displayName: null, displayNameOverride: null,
    avatarUrl: null, metadata: {}, facts: {}, factsAt: null, status: 'active', statusReason: null, sandboxBehaviour: mode === 'test' ? 'normal' : null,
    scopes: [], minGapSeconds: 0, dailyBudget: null, nextAllowedAt: null, credentialGeneration: 1, eventSeq: 0, connectedAt: now, reconnectedAt: null,
    disconnectedAt: null, createdAt: now, updatedAt: now, ...options,
  } as Account;
  await inScope(infra.db, SYSTEM, (tx) => tx.insert(AccountEntity, row));
  return row;
}
