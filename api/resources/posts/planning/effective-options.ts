import type { Issue } from '../../../../infra/contract/errors.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { MediaItem, OptionMap, Post } from '../../../../infra/db/entities/post.entity.ts';
import type { CatalogEntry, EffectiveOptions } from '../../../../providers/catalog.ts';
import { joiIssues } from '../../../validation/joi-issues.ts';
import { mediaTypeOf } from '../../../../infra/contract/media-type.ts';
import { layerSchemas, optionNames } from './option-schemas.ts';

/** One key of `target_options` that reaches a target. */
export interface Layer {
  key: string;
  values: Readonly<Record<string, unknown>>;
}

export interface ReadLayers {
  layers: Layer[];
  issues: Issue[];
  /** Options of a workspace layer that this platform does not have. */
  unused: string[];
}

type Holder = Pick<Account, 'id' | 'platform' | 'workspaceId'>;

/** The layers of a target in their order: platform, workspace, account. Keys of workspaces and accounts can be judged only here. */
export function readLayers(map: OptionMap | null, account: Holder): ReadLayers {
  const read: ReadLayers = { layers: [], issues: [], unused: [] };
  if (map === null) return read;
  const platformLayer = map[account.platform];
  if (platformLayer !== undefined) read.layers.push({ key: account.platform, values: platformLayer });
  const ofWorkspace = account.workspaceId ? map[account.workspaceId] : undefined;
  if (ofWorkspace !== undefined) {
    const names = Object.keys(ofWorkspace);
    read.unused.push(...names.filter((name) => !optionNames[account.platform].has(name)));
    const known = Object.fromEntries(Object.entries(ofWorkspace).filter(([name]) => optionNames[account.platform].has(name)));
    addLayer(read, account, { key: account.workspaceId!, values: known });
  }
  const own = map[account.id];
  if (own !== undefined) addLayer(read, account, { key: account.id, values: own });
  return read;
}

function addLayer(read: ReadLayers, account: Holder, layer: Layer): void {
  const schema = layerSchemas[account.platform];
  const { value, error } = schema.validate(layer.values, { abortEarly: false, convert: false, errors: { render: false } });
  const found = joiIssues(error?.details ?? [], 'body', schema.describe());
  read.issues.push(...found.map((issue) => ({ ...issue, path: ['target_options', layer.key, ...issue.path] })));
  read.layers.push({ key: layer.key, values: value as Record<string, unknown> });
}

/** What one target publishes: frozen with the post, so that nothing that is edited later changes it. */
export interface Effective {
  /** The text that its options give; null = the shared one. */
  ownText: string | null;
  media: MediaItem[];
  options: EffectiveOptions;
  /** The key of the layer that gave an option, and the name it was sent under; null = the post's own field or a default. */
  originOf(option: string): { key: string; name: string } | null;
}

export function effectiveOf(post: Pick<Post, 'media'>, layers: readonly Layer[], catalog: CatalogEntry): Effective {
  const all = catalog.normalizeOptions(...layers.map((layer) => layer.values));
  const { content, media, ...options } = all as Record<string, unknown>;
  return {
    ownText: (content as string | undefined) ?? null,
    media: withAltTexts((media as MediaItem[] | undefined) ?? post.media ?? [], (options.alt_texts as (string | null)[] | undefined) ?? []),
    options,
    originOf: (option) => originIn(layers, option, catalog.aliases),
  };
}

/** Alternative texts by position beat those of the items. The type that the text of an item tells is kept with it. */
function withAltTexts(media: readonly MediaItem[], altTexts: readonly (string | null)[]): MediaItem[] {
  return media.map((item, index) => {
    const type = mediaTypeOf(item);
    return { ...item, ...(type === null ? {} : { type }), ...(typeof altTexts[index] === 'string' ? { alt_text: altTexts[index] } : {}) };
  });
}

function originIn(layers: readonly Layer[], option: string, aliases: Readonly<Record<string, string>>): { key: string; name: string } | null {
  for (const layer of layers.toReversed()) {
    for (const [name, value] of Object.entries(layer.values)) {
      const blank = value === null || (option === 'content' && typeof value === 'string' && value.trim() === '');
      if ((name === option || aliases[name] === option) && !blank) return { key: layer.key, name };
    }
  }
  return null;
}
