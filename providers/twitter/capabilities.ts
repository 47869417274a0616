import type { AccountFacts, Capabilities, PacingRules } from '../common/catalog-entry.ts';

/** The path is the version; there is no version header. Checked against the public OpenAPI document 2.167. */
export const API_VERSION = 'v2';

export const TEXT_MAX = 280;
export const LONG_TEXT_MAX = 25_000;
const VIDEO_MAX_MS = 140_000;
const LONG_VIDEO_MAX_MS = 4 * 3_600_000;

export const capabilities: Capabilities = capabilitiesFor(false);

function capabilitiesFor(longPosts: boolean): Capabilities {
  return {
    contentTypes: [
      {
        name: 'post',
        text: 'optional',
        media: [{}, { image: { min: 1, max: 4 } }, { gif: { min: 1, max: 1 } }, { video: { min: 1, max: 1 } }],
        kinds: [
          { kind: 'image', mimeTypes: ['image/jpeg', 'image/png', 'image/webp'], maxBytes: 5_000_000, delivery: 'upload' },
          { kind: 'gif', mimeTypes: ['image/gif'], maxBytes: 15_000_000, maxWidth: 1280, maxHeight: 1080, maxFrames: 350, delivery: 'upload' },
          {
            kind: 'video', mimeTypes: ['video/mp4', 'video/quicktime'], maxBytes: 512_000_000, minDurationMs: 500, maxDurationMs: longPosts ? LONG_VIDEO_MAX_MS : VIDEO_MAX_MS,
            maxFps: 60, codecs: ['h264', 'aac'], delivery: 'upload',
          },
        ],
      },
    ],
    text: { max: longPosts ? LONG_TEXT_MAX : TEXT_MAX, counting: 'weighted', unit: 'weighted', perUrl: 23, markup: 'plain', overridable: true },
    altText: { supported: true, kinds: ['image', 'gif'], max: 1_000 },
    poll: { minOptions: 2, maxOptions: 4, optionMax: 25, minDurationMinutes: 5, maxDurationMinutes: 10_080, multiple: false, withMedia: false },
    threads: { supported: true, how: 'reply_chain', maxItems: 100, media: true, delay: true },
  };
}

export function capabilitiesOf(account: AccountFacts): Capabilities {
  return hasLongPosts(account) ? capabilitiesFor(true) : capabilities;
}

function hasLongPosts({ metadata, facts }: AccountFacts): boolean {
  return (facts['long_posts'] ?? metadata['long_posts']) === true;
}

export const pacing: PacingRules = {
  minGapSeconds: 0,
  dailyBudget: null,
  windows: [
    { limit: 100, seconds: 900, per: 'account', counts: 'publish' },
    { limit: 10_000, seconds: 86_400, per: 'app', counts: 'publish' },
    { limit: 50, seconds: 900, per: 'account', counts: 'delete' },
    { limit: 1_875, seconds: 900, per: 'account', counts: 'media' },
  ],
  reads: null,
};
