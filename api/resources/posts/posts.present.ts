import type { MediaItem, Post } from '../../../infra/db/entities/post.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { instant, presentTargets } from '../../../infra/wire/post-target.ts';
import type { Caller } from '../../route.ts';
import { presentPostTag } from '../tags/tags.present.ts';
import { mediaTypeOf } from '../../../infra/contract/media-type.ts';
import { presentAutoSchedule, workspacesIn } from './auto-schedule.present.ts';

/** What a list leaves out unless it is asked for. */
export interface Shown {
  targets: boolean;
  media: boolean;
}

/** A post as the wire shows it, every field on every route. */
export function presentPost(state: PostState, caller: Caller, shown: Shown = { targets: true, media: true }): Record<string, unknown> {
  const { post, targets } = state;
  const ordered = [...targets].sort((a, b) => a.position - b.position);
  return {
    id: post.id,
    status: post.status,
    content: post.content ?? null,
    scheduled_at: instant(post.scheduledAt),
    published_at: instant(post.publishedAt),
    targets: shown.targets ? presentTargets(targets, state) : {},
    media: shown.media ? presentMedia(post) : null,
    target_options: post.targetOptions ?? null,
    timezone: post.timezone,
    metrics: {},
    recycling: null,
    recycled_from_id: null,
    thread_group_id: null,
    thread_position: null,
    workspace_id: post.workspaceId ?? null,
    notes: post.notes ?? null,
    template_id: post.templateId ?? null,
    idea_id: null,
    signature_id: post.signature?.id ?? null,
    skip_signature: post.skipSignature,
    shorten_urls: post.shortenUrls,
    catch_up: { max_lateness_seconds: post.maxLatenessSeconds, on_late: post.onLate },
    cross_post_actions: [],
    auto_schedule: presentAutoSchedule(post.autoSchedule ?? null, caller),
    tags: (state.tags ?? []).map(presentPostTag),
    revision: post.revision,
    hold_reason: post.holdReason ?? null,
    source: 'internal',
    platforms: [...new Set(ordered.map((target) => target.platform))],
    created_at: instant(post.createdAt),
    updated_at: instant(post.updatedAt),
  };
}

/** The workspaces that `presentPost` tells of. */
export function workspacesShown({ workspaceId = null, autoSchedule = null }: Post, caller: Caller): (string | null)[] {
  return [workspaceId, ...workspacesIn(autoSchedule, caller)];
}

function presentMedia(post: Post): Record<string, unknown>[] | null {
  return post.media?.map(presentMediaItem) ?? null;
}

export function presentMediaItem(item: MediaItem): Record<string, unknown> {
  const type = mediaTypeOf(item);
  return {
    url: item.url,
    ...(type === null ? {} : { type }),
    media_id: null,
    alt_text: item.alt_text ?? null,
    mime_type: item.mime_type ?? null,
    width: item.width ?? null,
    height: item.height ?? null,
    duration_ms: item.duration_ms ?? null,
    thumbnail: null,
  };
}

export function etagOf(post: Pick<Post, 'revision'>): string {
  return `"${post.revision}"`;
}
