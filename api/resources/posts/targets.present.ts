import type { Account } from '../../../infra/db/entities/account.entity.ts';
import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import type { MediaItem } from '../../../infra/db/entities/post.entity.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { instant, presentTargets } from '../../../infra/wire/post-target.ts';
import { platformCatalog, type CatalogEntry } from '../../../providers/catalog.ts';
import { effectiveOf, readLayers } from './planning/effective-options.ts';
import { presentMediaItem } from './posts.present.ts';

type Wire = Record<string, unknown>;

/** A target in full: what a post says of it, and what is published in its name. */
export function presentTargetDetail(target: Target, state: PostState, operations: readonly Operation[]): Wire {
  const account = state.accounts.get(target.accountId)!;
  const catalog = platformCatalog(target.platform);
  if (catalog === null) throw new Error(`a target on ${target.platform} exists without an adapter`);
  const { text, options, media } = contentOf(target, { post: state.post, account, catalog });
  const length = catalog.length({ text, options, account: { username: account.username ?? null, metadata: account.metadata, facts: account.facts } });
  const shown = presentTargets([target], state)[target.accountId] as { accounts: Wire[]; error?: unknown };
  return {
    target_id: target.id,
    account_id: target.accountId,
    platform: target.platform,
    status: target.status,
    attempt: target.attempt,
    text,
    text_length: length.value,
    length_limit: length.limit,
    length_unit: length.unit,
    options,
    media: media.map(presentMediaItem),
    error: shown.error ?? null,
    accounts: shown.accounts,
    operations: operations.map(({ id, status, attempt, createdAt, settledAt }) => ({ id, status, attempt, created_at: instant(createdAt), settled_at: instant(settledAt) })),
    platform_post_ids: presentPlatformPosts(target),
    metrics: null,
    metrics_at: null,
    metrics_error: null,
  };
}

interface Content {
  text: string | null;
  options: Readonly<Wire>;
  media: readonly MediaItem[];
}

/** As frozen for sending. Of a draft nothing is frozen: it is shown as it would be if it went out now. */
function contentOf(target: Target, { post, account, catalog }: { post: PostState['post']; account: Account; catalog: CatalogEntry }): Content {
  if (post.status !== 'draft') return { text: target.text ?? null, options: target.options, media: target.media };
  return effectiveOf(post, readLayers(post.targetOptions ?? null, account).layers, catalog);
}

/** What stands, or stood until it was taken back. A verdict that was reversed leaves an id behind that never was one. */
function presentPlatformPosts(target: Target): Wire[] {
  const isReal = target.status === 'published' || (target.unpublishedAt !== null && target.unpublishedAt !== undefined);
  if (!isReal || !target.platformPostId) return [];
  return [{ platform_post_id: target.platformPostId, url: target.url ?? null, from: instant(target.publishedAt), to: instant(target.unpublishedAt) }];
}
