import type { AccountFacts, Capabilities, KindRules, PacingRules } from '../common/catalog-entry.ts';
import { knownFacts } from './facts.ts';

/** v2 for the instance and uploads, v1 for everything else. Checked against the documentation of 2026-07. */
export const API_VERSION = 'v1/v2';

const IMAGES = ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif', 'image/avif'];
const VIDEOS = ['video/mp4', 'video/quicktime', 'video/webm'];
const AUDIO = ['audio/mpeg', 'audio/mp3', 'audio/ogg', 'audio/wav', 'audio/x-wav', 'audio/flac', 'audio/opus', 'audio/aac', 'audio/mp4', 'audio/m4a', 'audio/x-m4a', 'audio/webm', 'audio/3gpp'];

const DEFAULTS = {
  max_characters: 500, characters_reserved_per_url: 23, max_media_attachments: 4, image_size_limit: 16_000_000, video_size_limit: 99_000_000, description_limit: 1_500,
  poll_max_options: 4, poll_max_characters: 50, poll_min_expiration: 300, poll_max_expiration: 2_629_746,
};

export type Numbers = typeof DEFAULTS;

/** The instance's numbers, the documented defaults where it named none. */
export function numbersOf(account: AccountFacts): Numbers {
  const known = knownFacts(account);
  const numbers = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof Numbers)[]) {
    const value = known[name];
    if (typeof value === 'number') numbers[name] = value;
  }
  return numbers;
}

export const capabilities: Capabilities = capabilitiesOf({ metadata: {}, facts: {} });

export function capabilitiesOf(account: AccountFacts): Capabilities {
  const numbers = numbersOf(account);
  return {
    contentTypes: [
      {
        name: 'post',
        text: 'optional',
        media: [{}, { image: { min: 1, max: numbers.max_media_attachments } }, { gif: { min: 1, max: 1 } }, { video: { min: 1, max: 1 } }, { document: { min: 1, max: 1 } }],
        kinds: kindsOf(numbers, account),
      },
    ],
    text: { max: numbers.max_characters, counting: 'graphemes_mastodon', unit: 'graphemes', perUrl: numbers.characters_reserved_per_url, markup: 'plain', overridable: true },
    altText: { supported: true, kinds: ['image', 'video', 'gif', 'document'], max: numbers.description_limit },
    poll: {
      minOptions: 2, maxOptions: numbers.poll_max_options, optionMax: numbers.poll_max_characters, multiple: true, withMedia: false,
      minDurationMinutes: Math.ceil(numbers.poll_min_expiration / 60), maxDurationMinutes: Math.floor(numbers.poll_max_expiration / 60),
    },
    threads: { supported: true, how: 'reply_chain', maxItems: 100, media: true, delay: true },
  };
}

function kindsOf(numbers: Numbers, account: AccountFacts): KindRules[] {
  const listed: unknown = account.facts['mime_types'];
  const accepted = (ours: readonly string[], family: RegExp) => (Array.isArray(listed) ? listed.filter((type): type is string => typeof type === 'string' && family.test(type)) : ours);
  const { image_size_limit: imageMax, video_size_limit: videoMax } = numbers;
  return [
    { kind: 'image', mimeTypes: accepted(IMAGES, /^image\/(?!gif)/), maxBytes: imageMax, delivery: 'upload' },
    { kind: 'gif', mimeTypes: ['image/gif'], maxBytes: imageMax, delivery: 'upload' },
    { kind: 'video', mimeTypes: accepted(VIDEOS, /^video\//), maxBytes: videoMax, delivery: 'upload' },
    { kind: 'document', mimeTypes: accepted(AUDIO, /^audio\//), maxBytes: videoMax, delivery: 'upload' },
  ];
}

export const pacing: PacingRules = {
  minGapSeconds: 0,
  dailyBudget: null,
  windows: [
    { limit: 300, seconds: 300, per: 'account', counts: 'any' },
    { limit: 30, seconds: 1_800, per: 'account', counts: 'media' },
    { limit: 30, seconds: 1_800, per: 'account', counts: 'delete' },
    { limit: 300, seconds: 10_800, per: 'account', counts: 'publish' },
  ],
  reads: { limit: 300, seconds: 300 },
};
