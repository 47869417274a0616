import { mediaTypeOf } from '../../infra/contract/media-type.ts';
import type { Target } from '../../infra/db/entities/target.entity.ts';
import type { MediaFile } from '../../providers/provider.ts';

/** Media as the caller declared it: enough to plan with. */
export function declaredMedia({ target }: { target: Target }): MediaFile[] {
  return target.media.map((item) => ({
    kind: mediaTypeOf(item) ?? 'image', mimeType: item.mime_type ?? '', bytes: 0, altText: item.alt_text ?? null,
    read: () => Promise.reject(new Error('this step has not opened its media')),
  }));
}
