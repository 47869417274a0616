import { defineEntity, type InferEntity } from '@mikro-orm/core';
import type { Platform } from '../../contract/platforms.ts';
import type { TargetStatus, WaitingFor } from '../../contract/statuses.ts';
import { flag, id, instant, integer, json, mode, text } from './columns.ts';
import type { MediaItem } from './post.entity.ts';

export interface TargetError {
  code: string;
  message: string;
  detail?: string;
  provider_code?: string;
  retryable: boolean;
  operation_id?: string;
}

export interface Warning {
  code: string;
  message: string;
  step?: string;
}

export const TargetEntity = defineEntity({
  name: 'Target',
  tableName: 'target',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    postId: text(),
    accountId: text(),
    platform: text().$type<Platform>(),
    /** Named by its account's id, not only reached through a platform or a workspace. */
    byId: flag(),
    position: integer(),
    status: text().$type<TargetStatus>(),
    /** Generation: 0 before the first publication, +1 for each explicit attempt. */
    attempt: integer(),
    text: text().nullable(),
    options: json<Record<string, unknown>>(),
    media: json<MediaItem[]>(),
    /** What the duplicate guard compares; null for drafts and where there is nothing to compare. */
    fingerprint: text().nullable(),
    error: json<TargetError>().nullable(),
    operationId: text().nullable(),
    platformPostId: text().nullable(),
    url: text().nullable(),
    publishedAt: instant().nullable(),
    unpublishedAt: instant().nullable(),
    waitingFor: text().$type<WaitingFor>().nullable(),
    waitingUntil: instant().nullable(),
    vanishedAt: instant().nullable(),
    warnings: json<Warning[]>(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type Target = InferEntity<typeof TargetEntity>;
