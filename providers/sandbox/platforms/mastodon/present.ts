import type { Account } from '../../accounts.ts';
import { sampleFor } from '../../samples.ts';
import type { StoredMedia } from '../../store/media.ts';
import type { NewObject } from '../../ledger.ts';

/** The parts of an attachment that a status keeps. */
export interface ShownAttachment {
  id: string;
  type: string;
  description: string | null;
  focus: { x: number; y: number } | null;
  mime_type: string;
}

export type ShownStatus = Pick<NewObject, 'object_id' | 'url' | 'text' | 'parent_id' | 'detail'> & { created_at: string };

export function shownAttachment(media: StoredMedia): ShownAttachment {
  return { id: media.id, type: media.kind === 'gif' ? 'gifv' : media.kind, description: media.altText, focus: media.detail.focus ?? null, mime_type: media.mimeType };
}

/** A MediaAttachment. `ready: false` has no address yet. */
export function presentAttachment(media: ShownAttachment, { baseUrl, ready }: { baseUrl: string; ready: boolean }): Record<string, unknown> {
  const url = `${baseUrl}/sandbox/samples/${sampleFor(media.mime_type)}`;
  return {
    id: media.id, type: media.type, url: ready ? url : null, preview_url: ready ? `${baseUrl}/sandbox/samples/image.jpg` : null, remote_url: null, preview_remote_url: null,
    text_url: null, meta: media.focus === null ? {} : { focus: media.focus }, description: media.description, blurhash: null,
  };
}

export function presentStatus(status: ShownStatus, author: Account, baseUrl: string): Record<string, unknown> {
  const { detail } = status;
  return {
    id: status.object_id, created_at: status.created_at, in_reply_to_id: status.parent_id, in_reply_to_account_id: detail.in_reply_to_account_id ?? null,
    sensitive: detail.sensitive ?? false, spoiler_text: detail.spoiler_text ?? '', visibility: detail.visibility ?? 'public', language: detail.language ?? 'en',
    uri: status.url, url: status.url, replies_count: 0, reblogs_count: 0, favourites_count: 0, quotes_count: 0, edited_at: null, favourited: false, reblogged: false,
    muted: false, bookmarked: false, pinned: false, content: htmlOf(status.text ?? ''), filtered: [], reblog: null,
    quote: detail.quoted_status_id === undefined ? null : { state: 'accepted', quoted_status_id: detail.quoted_status_id },
    application: { name: 'Oncepost', website: null }, account: presentAccount(author, baseUrl),
    media_attachments: ((detail.media ?? []) as ShownAttachment[]).map((media) => presentAttachment(media, { baseUrl, ready: true })),
    mentions: [], tags: [], emojis: [], card: null, poll: detail.poll === undefined ? null : presentPoll(status),
  };
}

function presentPoll(status: ShownStatus): Record<string, unknown> {
  const poll = status.detail.poll as { options: string[]; expires_in: number; multiple: boolean };
  const expiresAt = Date.parse(status.created_at) + poll.expires_in * 1_000;
  return {
    id: status.object_id, expires_at: new Date(expiresAt).toISOString(), expired: expiresAt < Date.now(), multiple: poll.multiple, votes_count: 0, voters_count: 0,
    voted: true, own_votes: [], options: poll.options.map((title) => ({ title, votes_count: 0 })), emojis: [],
  };
}

/** The account with id as the platform knows it; followers are fixed. */
export function presentAccount(account: Account, baseUrl: string): Record<string, unknown> {
  const avatar = `${baseUrl}/sandbox/samples/image.png`;
  return {
    id: account.platformAccountId, username: account.username, acct: account.username, display_name: account.displayName, locked: false, bot: false, discoverable: false,
    indexable: false, group: false, created_at: '2020-01-01T00:00:00.000Z', note: '', url: `${baseUrl}/sandbox/p/mastodon/@${account.username}`,
    uri: `${baseUrl}/sandbox/p/mastodon/@${account.username}`, avatar, avatar_static: avatar, header: avatar, header_static: avatar, followers_count: 100,
    following_count: 0, statuses_count: 0, last_status_at: null, emojis: [], fields: [],
  };
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The HTML of a status: paragraphs, line breaks and links. */
function htmlOf(text: string): string {
  if (text === '') return '';
  const linked = (part: string): string => escaped(part).replace(/https?:\/\/[^\s<]+/g, (url) => `<a href="${url}" target="_blank" rel="nofollow noopener" translate="no">${url}</a>`);
  return text.split(/\n{2,}/).map((paragraph) => `<p>${paragraph.split('\n').map(linked).join('<br />')}</p>`).join('');
}
