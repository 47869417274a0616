import { defineEntity, type InferEntity } from '@mikro-orm/core';
import type { PostStatus } from '../../contract/statuses.ts';
import { flag, id, instant, integer, json, mode, text, type Actor } from './columns.ts';

/** A media item as the caller sent it. */
export interface MediaItem {
  url: string;
  type?: 'image' | 'video' | 'gif' | 'document';
  alt_text?: string | null;
  mime_type?: string | null;
  width?: number | null;
  height?: number | null;
  duration_ms?: number | null;
}

export type OptionMap = Record<string, Record<string, unknown>>;

/** Where the shared text came from, as it was before rendering: kept so that a change of time or targets can render it again. */
export interface TextSource {
  kind: 'content' | 'template' | 'none';
  text: string | null;
  /** Of a template: texts by platform. */
  overrides: Record<string, string> | null;
  /** What the caller gave for the template's variables. */
  variables: Record<string, string>;
}

export const NO_TEXT: TextSource = { kind: 'none', text: null, overrides: null, variables: {} };

/** A signature as it was when it was put into the text. */
export interface FrozenSignature {
  id: string;
  name: string;
  workspaceId: string | null;
  content: string;
  position: 'append' | 'prepend';
}

/** How `auto` chose, in the form of the wire; beside a post that stood in the way also where it lies, because not everybody who reads this may see that post. */
export type AutoSchedule = Record<string, unknown> & { skipped: readonly { post_id: string | null; workspace_id: string | null }[] };

export const PostEntity = defineEntity({
  name: 'Post',
  tableName: 'post',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    workspaceId: text().nullable(),
    workspaceGiven: flag(),
    status: text().$type<PostStatus>(),
    /** The shared text after rendering; of a draft, before it. */
    content: text().nullable(),
    textSource: json<TextSource>(),
    templateId: text().nullable(),
    signature: json<FrozenSignature>().nullable(),
    skipSignature: flag(),
    shortenUrls: flag(),
    autoSchedule: json<AutoSchedule>().nullable(),
    media: json<MediaItem[]>().nullable(),
    targetOptions: json<OptionMap>().nullable(),
    timezone: text(),
    scheduledAt: instant().nullable(),
    /** The wall time as given without an offset; used again when the time zone is changed. */
    wallTime: text().nullable(),
    publishedAt: instant().nullable(),
    notes: text().nullable(),
    maxLatenessSeconds: integer(),
    onLate: text().$type<'publish' | 'skip' | 'hold'>(),
    holdReason: text().nullable(),
    revision: integer(),
    /** Names the workflow that may carry this post: `post/<post>/<seq>`. An older one finds itself superseded. */
    seq: integer(),
    eventSeq: integer(),
    requestId: text().nullable(),
    createdBy: json<Actor>(),
    deletedAt: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type Post = InferEntity<typeof PostEntity>;
