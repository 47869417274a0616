import { isRecord } from '../common/answers.ts';
import type { AccountFacts } from '../common/catalog-entry.ts';

/** What an instance says about itself, as kept in the account's facts. */
export interface InstanceFacts {
  [name: string]: unknown;
  version: string;
  /** The server honours Idempotency-Key: it is Mastodon itself, 4 or later, and no other program that speaks like it. */
  idempotency: boolean;
  max_characters: number | null;
  characters_reserved_per_url: number | null;
  max_media_attachments: number | null;
  image_size_limit: number | null;
  video_size_limit: number | null;
  description_limit: number | null;
  mime_types: string[] | null;
  poll_max_options: number | null;
  poll_max_characters: number | null;
  poll_min_expiration: number | null;
  poll_max_expiration: number | null;
  quotes: boolean;
}

/** `api_versions.mastodon` since which statuses can be quoted (4.5). */
const QUOTES_SINCE = 7;

/** GET /api/v2/instance; version 1 of it has the same members where we read them. null = not an instance's answer. */
export function factsOf(json: unknown): InstanceFacts | null {
  if (!isRecord(json) || typeof json['version'] !== 'string') return null;
  const { version } = json;
  const configuration = recordAt(json, 'configuration');
  const statuses = recordAt(configuration, 'statuses');
  const media = recordAt(configuration, 'media_attachments');
  const polls = recordAt(configuration, 'polls');
  const mimeTypes: unknown = media['supported_mime_types'];
  return {
    version,
    idempotency: isGenuine(version),
    max_characters: numberOf(statuses['max_characters']) ?? numberOf(json['max_toot_chars']),
    characters_reserved_per_url: numberOf(statuses['characters_reserved_per_url']),
    max_media_attachments: numberOf(statuses['max_media_attachments']),
    image_size_limit: numberOf(media['image_size_limit']),
    video_size_limit: numberOf(media['video_size_limit']),
    description_limit: numberOf(media['description_limit']),
    mime_types: Array.isArray(mimeTypes) ? mimeTypes.filter((type) => typeof type === 'string') : null,
    poll_max_options: numberOf(polls['max_options']),
    poll_max_characters: numberOf(polls['max_characters_per_option']),
    poll_min_expiration: numberOf(polls['min_expiration']),
    poll_max_expiration: numberOf(polls['max_expiration']),
    quotes: Number(recordAt(json, 'api_versions')['mastodon'] ?? 0) >= QUOTES_SINCE,
  };
}

/** Other servers put their own name behind `compatible;`, or have a version of their own below 4. What forks of Mastodon do with keys is not confirmed. */
export function isGenuine(version: string): boolean {
  const major = /^(\d+)\.\d+\.\d+/.exec(version)?.[1];
  return major !== undefined && Number(major) >= 4 && !/compatible;/i.test(version);
}

/** Facts of the instance, as far as anything is known of them; connecting stored some among the metadata. */
export function knownFacts({ metadata, facts }: AccountFacts): Readonly<Record<string, unknown>> {
  const { idempotency, max_characters: maxCharacters, server_version: version } = metadata;
  const connected = { idempotency, max_characters: maxCharacters, version };
  return { ...Object.fromEntries(Object.entries(connected).filter(([, value]) => value !== undefined)), ...facts };
}

function recordAt(from: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = from[name];
  return isRecord(value) ? value : {};
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;
}
