import { ApiError } from '../../../../infra/contract/errors.ts';
import type { Config } from '../../../../infra/config/config.ts';
import type { Mode } from '../../../../infra/contract/platforms.ts';
import type { MediaItem } from '../../../../infra/db/entities/post.entity.ts';
import { createGuard, type Guard } from '../../../../infra/http/guard.ts';
import type { Layer } from './effective-options.ts';

const guards = new WeakMap<Config, Guard>();

interface MediaOfPost {
  media: readonly MediaItem[] | null;
  /** Those that reach a target, and have the form of its platform. */
  layers: readonly Layer[];
}

/** Refuses addresses that would be refused when publishing, as far as their text tells. Nothing is asked of the network. */
export function refuseMediaUrls(post: MediaOfPost, options: { config: Config; mode: Mode }): void {
  for (const { url, path } of urlsOf(post)) {
    if (isAllowed(url, options)) continue;
    throw new ApiError('INVALID_MEDIA_URL', 'This media address is not public, so it cannot be fetched. Give an address that anybody on the internet can read.', { details: { path } });
  }
}

function isAllowed(url: string, { config, mode }: { config: Config; mode: Mode }): boolean {
  if (mode === 'test' && url.startsWith(`${config.baseUrl}/sandbox/samples/`)) return true;
  let guard = guards.get(config);
  if (guard === undefined) guards.set(config, (guard = createGuard({ allow: config.outboundAllow, blocked: [] })));
  return guard.admit(url, { kind: 'media' }).admitted;
}

function urlsOf({ media, layers }: MediaOfPost): { url: string; path: (string | number)[] }[] {
  const shared = (media ?? []).map((item, index) => ({ url: item.url, path: ['media', index, 'url'] }));
  const own = layers.flatMap(({ key, values }) => ((values.media ?? []) as MediaItem[]).map((item, index) => ({ url: item.url, path: ['target_options', key, 'media', index, 'url'] })));
  return [...shared, ...own];
}

/** Options that name stored media. None exist until media can be stored, so each is unknown. */
export function refuseUnknownMedia(layers: readonly Layer[]): void {
  for (const { key, values } of layers) {
    const name = Object.keys(values).find((option) => option.endsWith('_media_id') && values[option] !== null);
    if (name === undefined) continue;
    throw new ApiError('MEDIA_NOT_FOUND', `There is no media with the id given as ${name}. Leave the option out.`, { details: { resource: 'media', id: values[name], path: ['target_options', key, name] } });
  }
}
