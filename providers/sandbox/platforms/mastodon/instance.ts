import { json, type Reply } from '../../reply.ts';
import type { Call } from '../platform.ts';

/** The numbers of the played instance: those of a fresh Mastodon 4.5. */
export const INSTANCE = {
  maxCharacters: 500, maxMedia: 4, perUrl: 23, descriptionLimit: 1_500, imageBytes: 16 * 1_048_576, videoBytes: 99 * 1_048_576,
  pollOptions: 4, pollOptionCharacters: 50, pollMinSeconds: 300, pollMaxSeconds: 2_629_746,
} as const;

export const MEDIA_TYPES: Readonly<Record<string, 'image' | 'gif' | 'video' | 'audio'>> = {
  'image/jpeg': 'image', 'image/png': 'image', 'image/webp': 'image', 'image/heic': 'image', 'image/heif': 'image', 'image/avif': 'image',
  'image/gif': 'gif', 'video/webm': 'video', 'video/mp4': 'video', 'video/quicktime': 'video', 'video/ogg': 'video',
  'audio/wave': 'audio', 'audio/wav': 'audio', 'audio/x-wav': 'audio', 'audio/ogg': 'audio', 'audio/mpeg': 'audio', 'audio/mp3': 'audio',
  'audio/webm': 'audio', 'audio/flac': 'audio', 'audio/aac': 'audio', 'audio/mp4': 'audio', 'audio/x-m4a': 'audio',
};

export const GENUINE = '4.5.2';
/** Looks like the servers that speak the Mastodon API and do not honour its keys. */
const FORK = '2.7.2 (compatible; GoToSocial 0.19.0)';

export const honoursKeys = (call: Call): boolean => call.account.behaviour !== 'ignores_idempotency';

function configuration(): Record<string, unknown> {
  return {
    urls: { streaming: null, status: null, about: null, privacy_policy: null, terms_of_service: null },
    accounts: { max_featured_tags: 10, max_pinned_statuses: 5 },
    statuses: { max_characters: INSTANCE.maxCharacters, max_media_attachments: INSTANCE.maxMedia, characters_reserved_per_url: INSTANCE.perUrl },
    media_attachments: {
      supported_mime_types: Object.keys(MEDIA_TYPES), description_limit: INSTANCE.descriptionLimit, image_size_limit: INSTANCE.imageBytes,
      image_matrix_limit: 33_177_600, video_size_limit: INSTANCE.videoBytes, video_frame_rate_limit: 120, video_matrix_limit: 8_294_400,
    },
    polls: {
      max_options: INSTANCE.pollOptions, max_characters_per_option: INSTANCE.pollOptionCharacters, min_expiration: INSTANCE.pollMinSeconds,
      max_expiration: INSTANCE.pollMaxSeconds,
    },
    translation: { enabled: false },
  };
}

/** GET /api/v2/instance. Public on the platform; the behaviour of an account shows only to who signs in with it. */
export function instanceV2(call: Call): Reply {
  const genuine = honoursKeys(call);
  return json(200, {
    domain: 'sandbox.invalid', title: 'Sandbox', version: genuine ? GENUINE : FORK, source_url: 'https://github.com/mastodon/mastodon', description: 'A played instance',
    usage: { users: { active_month: 1 } }, thumbnail: { url: `${call.sandbox.settings.baseUrl}/sandbox/samples/image.png` }, languages: ['en'],
    configuration: configuration(), registrations: { enabled: false, approval_required: false, reason_required: false, message: null, min_age: null, url: null },
    ...(genuine ? { api_versions: { mastodon: 7 } } : {}),
    contact: { email: 'sandbox@sandbox.invalid', account: null }, rules: [],
  });
}

/** GET /api/v1/instance */
export function instanceV1(call: Call): Reply {
  return json(200, {
    uri: 'sandbox.invalid', title: 'Sandbox', short_description: 'A played instance', description: 'A played instance', email: 'sandbox@sandbox.invalid',
    version: honoursKeys(call) ? GENUINE : FORK, urls: { streaming_api: null }, stats: { user_count: 1, status_count: 0, domain_count: 0 },
    thumbnail: null, languages: ['en'], registrations: false, approval_required: false, invites_enabled: false, configuration: configuration(), contact_account: null, rules: [],
  });
}
