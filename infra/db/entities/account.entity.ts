import { defineEntity, type InferEntity } from '@mikro-orm/core';
import type { Platform } from '../../contract/platforms.ts';
import type { AccountStatus, SandboxBehaviour } from '../../contract/statuses.ts';
import { id, instant, integer, json, mode, text, texts } from './columns.ts';

export const AccountEntity = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    workspaceId: text().nullable(),
    platform: text().$type<Platform>(),
    platformAccountId: text(),
    username: text().nullable(),
    displayName: text().nullable(),
    displayNameOverride: text().nullable(),
    avatarUrl: text().nullable(),
    /** Platform facts set by connecting (`reserved` of the catalog) and the caller's own keys. */
    metadata: json<Record<string, string | number | boolean | null>>(),
    /** What was last read about the account or its server; `null` time = must be read again. */
    facts: json<Record<string, unknown>>(),
    factsAt: instant().nullable(),
    status: text().$type<AccountStatus>(),
    statusReason: text().nullable(),
    sandboxBehaviour: text().$type<SandboxBehaviour>().nullable(),
    scopes: texts(),
    minGapSeconds: integer(),
    dailyBudget: integer().nullable(),
    nextAllowedAt: instant().nullable(),
    /** The same between the late posts of an account without a gap of its own. */
    lateAllowedAt: instant().nullable(),
    /** Bumped by every new credential; a reply to an older one never changes the account. */
    credentialGeneration: integer(),
    eventSeq: integer(),
    connectedAt: instant(),
    reconnectedAt: instant().nullable(),
    disconnectedAt: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type Account = InferEntity<typeof AccountEntity>;
