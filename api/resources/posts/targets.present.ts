import type { Account } from '../../../infra/db/entities/account.entity.ts';
import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import type { MediaItem } from '../../../infra/db/entities/post.entity.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { instant, presentTargets } from '../../../infra/wire/post-target.ts';
import { catalogOf, previewOf } from './planning/planned-targets.ts';
import { factsOf } from './planning/rules.ts';
import type { Rendering } from './planning/texts.ts';
import { presentMediaItem } from './posts.present.ts';

type Wire = Record<string, unknown>;

interface Shown {
  operations: readonly Operation[];
  /** What the text of a draft would be made of now. */
  preview: Rendering | null;
}

/** A target in full: what a post says of it, and what is published in its name. */
export function presentTargetDetail(target: Target, state: PostState, { operations, preview }: Shown): Wire {
  const account = state.accounts.get(target.accountId)!;
  const { text, options, media } = contentOf(target, { post: state.post, account, preview });
  const length = catalogOf(account).length({ text, options, account: factsOf(account) });
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
function contentOf(target: Target, { post, account, preview }: { post: PostState['post']; account: Account; preview: Rendering | null }): Content {
  return preview === null ? { text: target.text ?? null, options: target.options, media: target.media } : previewOf(account, post, preview);
}

/** What stands, or stood until it was taken back. A verdict that was reversed leaves an id behind that never was one. */
function presentPlatformPosts(target: Target): Wire[] {
  const isReal = target.status === 'published' || (target.unpublishedAt !== null && target.unpublishedAt !== undefined);
  if (!isReal || !target.platformPostId) return [];
  return [{ platform_post_id: target.platformPostId, url: target.url ?? null, from: instant(target.publishedAt), to: instant(target.unpublishedAt) }];
}
