import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutcomeCode } from '../../infra/contract/errors.ts';
import { REMOTE_MEDIA_MAX_BYTES } from '../../infra/contract/limits.ts';
import { mediaTypeOf, typeOfMime, type MediaType } from '../../infra/contract/media-type.ts';
import type { MediaItem } from '../../infra/db/entities/post.entity.ts';
import { TransportFailure } from '../../infra/http/types.ts';
import type { MediaFile, PlannedStep } from '../../providers/provider.ts';
import type { ActivityDeps } from '../deps.ts';
import type { Carriage } from './carriage.ts';
import { declaredMedia } from './declared-media.ts';
import type { Loaded } from './load.ts';
import { reachOf } from './port.ts';
import { sniff } from './sniff.ts';

/** A media file that can never be sent as it is; nothing public was asked for. */
export class MediaUnusable extends Error {
  readonly code: OutcomeCode;

  constructor(code: OutcomeCode) {
    super(code);
    this.name = 'MediaUnusable';
    this.code = code;
  }
}

const DOWNLOAD_TIMEOUT_MS = 60_000;
const TRIES = 3;
const SAMPLES: Record<MediaType, string> = { image: 'image.jpg', gif: 'animation.gif', video: 'video.mp4', document: 'document.pdf' };
/** Private steps of media are named by their 1-based position. */
const POSITION = /^media(?:_[a-z]+)*_(\d+)(?:_[a-z]+)*$/;

/** The files of a target, with the one that this step moves opened; every other knows only what was declared. */
export async function openMedia({ deps, loaded }: Pick<Carriage, 'deps' | 'loaded'>, step: PlannedStep): Promise<{ files: MediaFile[]; close: () => Promise<void> }> {
  const position = step.effect === 'private' ? POSITION.exec(step.name)?.[1] : undefined;
  const files = declaredMedia(loaded);
  if (position === undefined) return { files, close: async () => {} };
  const index = Number(position) - 1;
  const { file, close } = await fetchFile(deps, loaded, loaded.target.media[index]!);
  return { files: files.map((declared, i) => (i === index ? file : declared)), close };
}

async function fetchFile(deps: ActivityDeps, loaded: Loaded, item: MediaItem): Promise<{ file: MediaFile; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'oncepost-media-'));
  const handle = await open(join(folder, 'file'), 'w+');
  const close = async () => {
    await handle.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { bytes, contentType } = await download(deps, loaded, item, handle);
    return { file: await describe(handle, item, { bytes, contentType, alone: loaded.target.media.length === 1 }), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Three tries; a definite answer (gone, refused by the guard, too large) needs only one. */
async function download(deps: ActivityDeps, loaded: Loaded, item: MediaItem, handle: FileHandle): Promise<{ bytes: number; contentType: string | null }> {
  const { url, reach } = addressOf(deps, loaded, item);
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    let offset = 0;
    try {
      await handle.truncate(0);
      const got = await deps.outbound.download(url, {
        reach, maxBytes: REMOTE_MEDIA_MAX_BYTES, deadline: new Date(Date.now() + DOWNLOAD_TIMEOUT_MS),
        sink: async (chunk) => {
          await handle.write(chunk, 0, chunk.length, offset);
          offset += chunk.length;
        },
      });
      if (got.status >= 200 && got.status < 300) return got;
      if (got.status >= 400 && got.status < 500) break;
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error;
      if (error.error === 'too_large') throw new MediaUnusable('FILE_TOO_LARGE');
    }
  }
  throw new MediaUnusable('MEDIA_NOT_READY');
}

/** A test account never reaches the internet: the sandbox's own samples stand in for foreign files. */
function addressOf(deps: ActivityDeps, loaded: Loaded, item: MediaItem): { url: string; reach: ReturnType<typeof reachOf> } {
  const { config } = deps.infra;
  if (loaded.account.mode !== 'test') return { url: item.url, reach: { kind: 'media' } };
  const prefix = `${config.baseUrl}/sandbox/samples/`;
  const named = item.url.startsWith(prefix) ? item.url.slice(prefix.length).replace(/[?#].*$/, '') : '';
  const name = /^[a-z0-9-]+\.[a-z0-9]+$/.test(named) ? named : SAMPLES[mediaTypeOf(item) ?? 'image'];
  return { url: `${config.sandbox.url}/samples/${name}`, reach: reachOf(deps, loaded) };
}

/** The bytes win over what was declared, where they show what they are. */
async function describe(handle: FileHandle, item: MediaItem, { bytes, contentType, alone }: { bytes: number; contentType: string | null; alone: boolean }): Promise<MediaFile> {
  const head = Buffer.alloc(Math.min(512, bytes));
  await handle.read(head, 0, head.length, 0);
  const declared = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  const mimeType = sniff(head) ?? (typeOfMime(declared) === null ? item.mime_type ?? '' : declared);
  const kind = typeOfMime(mimeType) ?? mediaTypeOf(item);
  if (kind === null) throw new MediaUnusable('MEDIA_TYPE_AMBIGUOUS');
  const expected = mediaTypeOf(item);
  // The bytes win; only among several files another kind would be a mix that nobody asked for.
  if (expected !== null && kind !== expected && !alone) throw new MediaUnusable('INVALID_MEDIA_TYPE');
  return {
    kind, mimeType, bytes, altText: item.alt_text ?? null,
    async read(from = 0, to = bytes) {
      const piece = Buffer.alloc(to - from);
      await handle.read(piece, 0, piece.length, from);
      return piece;
    },
  };
}
