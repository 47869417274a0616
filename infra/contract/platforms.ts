/** The 21 platforms, in the order of the service's own document. A new platform is one word here, one folder and one line in the registry. */
export const PLATFORMS = [
  'twitter', 'instagram', 'facebook', 'linkedin', 'tiktok', 'youtube', 'pinterest', 'reddit', 'bluesky', 'threads',
  'telegram', 'snapchat', 'googlebusiness', 'whatsapp', 'mastodon', 'discord', 'sms', 'beehiiv', 'convertkit',
  'mailchimp', 'listmonk',
] as const;

export type Platform = (typeof PLATFORMS)[number];

export function isPlatform(word: string): word is Platform {
  return (PLATFORMS as readonly string[]).includes(word);
}

export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];
