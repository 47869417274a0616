import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { newId } from './contract/ids.ts';
import type { Mode, Platform } from './contract/platforms.ts';
import { seal } from './crypto/envelope.ts';
import { BEARER_PREFIXES, bearerDigest, bearerHints, newBearer } from './crypto/bearer.ts';
import { credentialPlace } from './crypto/places.ts';
import type { Config } from './config/config.ts';
import type { Secrets } from './config/secrets.ts';
import type { Tx } from './db/database.ts';
import { AccountEntity, type Account } from './db/entities/account.entity.ts';
import { ApiKeyEntity, type ApiKey } from './db/entities/api-key.entity.ts';
import { CredentialEntity } from './db/entities/credential.entity.ts';
import { OrganizationEntity, type Organization } from './db/entities/organization.entity.ts';
import { writeAccountConnected } from './db/repositories/events.ts';
import { sandboxAdmin } from './sandbox-admin.ts';

export interface Foundation {
  config: Pick<Config, 'sandbox'>;
  secrets: Secrets;
}

export function createOrganization(tx: Tx, given: { name: string; slug: string; plan?: 'free' | 'pro'; quotaMode?: 'hard' | 'metered' | 'unlimited'; quotaUnits?: number | null; ratePerMinute?: number | null; requireWorkspaceId?: boolean }, now: Date): Organization {
  return tx.create(OrganizationEntity, {
    id: newId('organization'), name: given.name, slug: given.slug, status: 'active', plan: given.plan ?? 'pro', quotaMode: given.quotaMode ?? 'unlimited',
    quotaUnits: given.quotaUnits ?? null, ratePerMinute: given.ratePerMinute ?? null, requireWorkspaceId: given.requireWorkspaceId ?? false, createdAt: now, updatedAt: now,
  }, { persist: true });
}

/** The secret is in the reply and nowhere else. */
export function createApiKey(tx: Tx, secrets: Secrets, given: { organizationId: string; mode: Mode; name: string; permissions?: string[]; workspaceScope?: string[] | null; expiresAt?: Date | null; enabled?: boolean }, now: Date): { row: ApiKey; key: string } {
  const prefix = BEARER_PREFIXES[given.mode];
  const key = newBearer(prefix);
  const pepper = secrets.peppers[0]!;
  const row = tx.create(ApiKeyEntity, {
    id: newId('key'), organizationId: given.organizationId, mode: given.mode, name: given.name, digest: bearerDigest(pepper, key), pepperId: pepper.id, ...bearerHints(prefix, key),
    permissions: given.permissions ?? ['read', 'write', 'reconcile'], workspaceScope: given.workspaceScope ?? null, enabled: given.enabled ?? true, expiresAt: given.expiresAt ?? null, createdAt: now, updatedAt: now,
  }, { persist: true });
  return { row, key };
}

/** A platform that the sandbox plays, with the facts that connecting an account there yields. */
export interface SandboxPlatform {
  platform: Platform;
  metadata: Record<string, string | number | boolean | null>;
  scopes: string[];
  refreshable: boolean;
}

export async function sandboxPlatforms(foundation: Foundation): Promise<SandboxPlatform[]> {
  return (await sandboxAdmin(foundation).read<{ data: SandboxPlatform[] }>('/platforms'))?.data ?? [];
}

/** One sandbox account. The sandbox learns of it before the transaction commits: what it knows too much harms nobody. */
export async function openSandboxAccount(tx: Tx, foundation: Foundation, given: { organizationId: string; platform: SandboxPlatform; ordinal: number; username?: string; workspaceId?: string | null }, now: Date): Promise<Account> {
  const { platform, metadata, scopes, refreshable } = given.platform;
  const id = newId('account');
  const username = given.username ?? (given.ordinal === 1 ? `sandbox_${platform}` : `sandbox_${platform}_${given.ordinal}`);
  const account = tx.create(AccountEntity, {
    id, organizationId: given.organizationId, mode: 'test', workspaceId: given.workspaceId ?? null, platform, platformAccountId: `sandbox-${platform}-${given.ordinal}`,
    username, displayName: `Sandbox ${platform}`, metadata, facts: {}, status: 'active', sandboxBehaviour: 'normal', scopes,
    minGapSeconds: 0, credentialGeneration: 1, eventSeq: 0, connectedAt: now, createdAt: now, updatedAt: now,
  }, { persist: true });
  const credential = newCredential(id, { generation: 1, refreshable });
  tx.create(CredentialEntity, {
    accountId: id, organizationId: given.organizationId, mode: 'test', generation: 1, refreshesLost: 0, updatedAt: now, sealed: sealedCredential(foundation, account, credential),
  }, { persist: true });
  await sandboxAdmin(foundation).putAccount({
    id, organization_id: given.organizationId, platform, platform_account_id: account.platformAccountId, username, display_name: account.displayName ?? null,
    behaviour: 'normal', generation: 1, accessToken: credential.accessToken, refreshToken: credential.refreshToken ?? null,
  });
  return account;
}

/**
 * Connects a sandbox account again: what its behaviours broke (a revoked, expired or lost token) is whole after it. The
 * account and its credential are locked; a reply to the older credential changes nothing any more.
 */
export async function reconnectSandboxAccount(tx: Tx, foundation: Foundation, accountId: string, now: Date): Promise<void> {
  const account = await tx.findOneOrFail(AccountEntity, { id: accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  const row = await tx.findOneOrFail(CredentialEntity, { accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const generation = row.generation + 1;
  const refreshable = (await sandboxPlatforms(foundation)).some((one) => one.platform === account.platform && one.refreshable);
  const credential = newCredential(accountId, { generation, refreshable });
  Object.assign(row, { generation, sealed: sealedCredential(foundation, account, credential), expiresAt: null, refreshingUntil: null, refreshesLost: 0, updatedAt: now });
  Object.assign(account, { status: 'active', statusReason: null, sandboxBehaviour: 'normal', credentialGeneration: generation, factsAt: null, nextAllowedAt: null, reconnectedAt: now, updatedAt: now });
  writeAccountConnected(tx, account, now);
  await tx.flush();
  await sandboxAdmin(foundation).putAccount({
    id: accountId, organization_id: account.organizationId, platform: account.platform, platform_account_id: account.platformAccountId, username: account.username!, display_name: account.displayName ?? null,
    behaviour: 'normal', generation, accessToken: credential.accessToken, refreshToken: credential.refreshToken ?? null,
  });
}

function newCredential(accountId: string, { generation, refreshable }: { generation: number; refreshable: boolean }): { accessToken: string; refreshToken?: string } {
  return { accessToken: sandboxToken(accountId, generation), ...(refreshable ? { refreshToken: sandboxToken(accountId, generation) } : {}) };
}

function sealedCredential({ secrets }: Foundation, account: Pick<Account, 'id' | 'organizationId'>, credential: object): Buffer {
  return seal(secrets.encryptionKeys, credentialPlace({ accountId: account.id, organizationId: account.organizationId }), Buffer.from(JSON.stringify(credential)));
}

/** `sandbox-<account id hex>-<generation>-<24 random>`, as the sandbox checks it. */
function sandboxToken(accountId: string, generation: number): string {
  return `sandbox-${accountId.replace(/^acc_/, '')}-${generation}-${randomBytes(18).toString('base64url').replace(/[-_]/g, '0')}`;
}
