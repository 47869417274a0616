import type { Platform } from '../infra/contract/platforms.ts';
import { mastodon } from './mastodon/index.ts';
import type { Provider } from './provider.ts';
import { twitter } from './twitter/index.ts';

export const providers: Partial<Record<Platform, Provider>> = { twitter, mastodon };
