import { mastodon } from './mastodon/index.ts';
import type { PlayedPlatform } from './platform.ts';
import { twitter } from './twitter/index.ts';

/** The platforms that are played. A new one is one folder and one line here. */
export const PLAYED: ReadonlyMap<string, PlayedPlatform> = new Map([
  twitter,
  mastodon,
].map((platform) => [platform.name, platform]));
