import { parseForm, parseJson, parseMultipart } from '../../body.ts';
import { sniff, wordsInFile } from '../../files.ts';
import { sha256, twitterIds } from '../../ids.ts';
import { processingOf } from '../../processing.ts';
import { json, type Reply } from '../../reply.ts';
import type { StoredMedia } from '../../store/media.ts';
import type { Call, Deed, Done } from '../platform.ts';
import { invalidRequest, problem } from './replies.ts';

const LIFETIME_SECONDS = 86_400;
const SEGMENT_MAX_BYTES = 5 * 1_048_576;
const MEDIA_TYPES: Readonly<Record<string, StoredMedia['kind']>> = {
  'image/jpeg': 'image', 'image/pjpeg': 'image', 'image/png': 'image', 'image/webp': 'image', 'image/bmp': 'image', 'image/tiff': 'image',
  'image/gif': 'gif', 'video/mp4': 'video', 'video/quicktime': 'video', 'video/webm': 'video', 'video/mp2t': 'video',
};
/** Largest size, prefix of the media key, and kinds that a category takes. */
const CATEGORIES: Readonly<Record<string, { maxBytes: number; prefix: string; kinds: readonly string[] }>> = {
  tweet_image: { maxBytes: 5 * 1_048_576, prefix: '3', kinds: ['image', 'gif'] },
  tweet_gif: { maxBytes: 15 * 1_048_576, prefix: '16', kinds: ['gif'] },
  tweet_video: { maxBytes: 512 * 1_048_576, prefix: '7', kinds: ['video'] },
  amplify_video: { maxBytes: 512 * 1_048_576, prefix: '13', kinds: ['video'] },
};

/** POST /2/media/upload/initialize */
export function initializeUpload(call: Call): Reply | Deed {
  const body = parseJson(call.body);
  if (typeof body !== 'object' || body === null) return invalidRequest('Invalid JSON');
  const { media_type: type, total_bytes: total, media_category: category = 'tweet_image', ...others } = body as Record<string, unknown>;
  const unknown = Object.keys(others).find((name) => !['shared', 'additional_owners'].includes(name));
  if (unknown !== undefined) return invalidRequest(`$.${unknown}: is not defined in the schema and the schema does not allow additional properties`);
  const kind = typeof type === 'string' ? MEDIA_TYPES[type] : undefined;
  if (kind === undefined) return invalidRequest('$.media_type: does not have a value in the enumeration', { media_type: [String(type)] });
  const rule = typeof category === 'string' ? CATEGORIES[category] : undefined;
  if (rule === undefined || !rule.kinds.includes(kind)) return invalidRequest('$.media_category: does not fit the media type', { media_category: [String(category)] });
  if (!Number.isInteger(total) || (total as number) < 1) return invalidRequest('$.total_bytes: must be a positive integer', { total_bytes: [String(total)] });
  if ((total as number) > rule.maxBytes) return invalidRequest(`File size exceeds ${rule.maxBytes} bytes.`, { total_bytes: [String(total)] });
  const id = twitterIds.next(Date.now());
  const media_key = `${rule.prefix}_${id}`;
  const data = { id, media_key, expires_after_secs: LIFETIME_SECONDS };
  return privateDeed(id, [], {
    apply: () => call.sandbox.media.add('twitter', {
      id, accountId: call.account.id, kind: kind === 'gif' && category === 'tweet_image' ? 'image' : kind, mimeType: type as string, bytes: total as number,
      sha256: null, altText: null, words: '', detail: { media_key, category }, state: 'open', readyAt: null,
    }),
    answer: () => ({ reply: json(200, { data }), withoutProof: json(200, { data: { expires_after_secs: LIFETIME_SECONDS } }) }),
  });
}

function privateDeed(subject: string, texts: (string | null)[], act: { apply(): Promise<void>; answer(): Done | Promise<Done> }): Deed {
  return { subject, texts, entry: null, ...act };
}

async function ownMedia(call: Call, id: string): Promise<StoredMedia | Reply> {
  const [media] = await call.sandbox.media.find('twitter', call.account.id, [id]);
  if (media === undefined || Date.now() - media.createdAt.getTime() > LIFETIME_SECONDS * 1_000) return invalidRequest('Invalid or expired media id.', { id: [id] });
  return media;
}

/** POST /2/media/upload/:id/append, as multipart with the bytes or as JSON with base64 */
export async function appendSegment(call: Call): Promise<Reply | Deed> {
  const media = await ownMedia(call, call.params.id!);
  if ('status' in media) return media;
  if (media.state !== 'open') return invalidRequest('The upload is already finalized.', { id: [media.id] });
  const segment = readSegment(call);
  if (segment === null) return invalidRequest('`segment_index` and `media` are required.');
  if (!Number.isInteger(segment.index) || segment.index < 0 || segment.index > 999) return invalidRequest('$.segment_index: must be from 0 to 999');
  if (segment.content.length === 0 || segment.content.length > SEGMENT_MAX_BYTES) return problem(413, 'Payload Too Large', 'Segment size must be from 1 byte to 5 MB.');
  const words = wordsInFile(segment.content);
  const expires_at = Math.floor(media.createdAt.getTime() / 1_000) + LIFETIME_SECONDS;
  return privateDeed(`${media.id} ${segment.index}`, [media.words, words], {
    apply: async () => {
      await call.sandbox.media.addSegment('twitter', media.id, segment.index, segment.content);
      if (words !== '') await call.sandbox.media.change('twitter', media.id, { words: `${media.words} ${words}` });
    },
    answer: () => ({ reply: json(200, { data: { expires_at } }), withoutProof: json(200, {}) }),
  });
}

function readSegment(call: Call): { index: number; content: Buffer } | null {
  const parts = parseMultipart(call.body);
  if (parts !== null) {
    const media = parts.find((part) => part.name === 'media');
    const index = parts.find((part) => part.name === 'segment_index');
    return media === undefined || index === undefined ? null : { index: Number(index.content.toString()), content: media.content };
  }
  const body = parseJson(call.body) as { segment_index?: unknown; media?: unknown } | undefined;
  if (typeof body?.media !== 'string' || body.segment_index === undefined) return null;
  return { index: Number(body.segment_index), content: Buffer.from(body.media, 'base64') };
}

/** POST /2/media/upload/:id/finalize. A repetition finds it finalized and says the same again. */
export async function finalizeUpload(call: Call): Promise<Reply | Deed> {
  const media = await ownMedia(call, call.params.id!);
  if ('status' in media) return media;
  const whole = media.state === 'open' ? await call.sandbox.media.assemble('twitter', media.id) : null;
  if (whole !== null && whole.bytes !== media.bytes) return invalidRequest('Segments do not add up to provided total file size.', { id: [media.id] });
  const readable = whole === null || sniff(whole.head)?.split('/')[0] === media.mimeType.split('/')[0];
  if (!readable && media.kind === 'image') return invalidRequest('media type unrecognized.', { id: [media.id] });
  return privateDeed(media.id, [media.words], {
    apply: async () => {
      if (whole === null) return;
      const processing = await processingOf(call, [media.words], media.kind !== 'image');
      const detail = { ...media.detail, by_word: processing.byWord, fails: processing.fails || !readable };
      // Failure by a word is shown by the status too, so it goes through processing like every other end of it.
      const state = processing.state === 'failed' ? 'processing' : processing.state;
      await call.sandbox.media.change('twitter', media.id, { state, readyAt: processing.readyAt ?? new Date(), sha256: whole.sha256, detail });
      await call.sandbox.media.dropSegments('twitter', media.id);
    },
    answer: async () => {
      const [stored] = await call.sandbox.media.find('twitter', call.account.id, [media.id]);
      return { reply: json(200, { data: { ...uploadView(stored ?? media), size: media.bytes } }), withoutProof: json(200, { data: {} }) };
    },
  });
}

/** GET /2/media/upload?command=STATUS&media_id= */
export async function uploadStatus(call: Call): Promise<Reply> {
  if (call.query.get('command') !== 'STATUS') return invalidRequest('$.command: does not have a value in the enumeration [STATUS]', { command: [call.query.get('command') ?? ''] });
  const media = await ownMedia(call, call.query.get('media_id') ?? '');
  if ('status' in media) return media;
  if (media.state === 'open') return invalidRequest('The upload is not finalized.', { media_id: [media.id] });
  return json(200, { data: uploadView(media) });
}

function uploadView(media: StoredMedia): Record<string, unknown> {
  const view = { id: media.id, media_key: media.detail.media_key, expires_after_secs: Math.max(0, LIFETIME_SECONDS - Math.floor((Date.now() - media.createdAt.getTime()) / 1_000)) };
  const left = Math.max(0, (media.readyAt?.getTime() ?? 0) - Date.now());
  const check_after_secs = Math.min(30, Math.max(1, Math.ceil(left / 1_000)));
  switch (media.state) {
    case 'processing': return { ...view, processing_info: { state: 'in_progress', check_after_secs, progress_percent: 50 } };
    case 'failed': return { ...view, processing_info: { state: 'failed', progress_percent: 0, error: { code: 1, name: 'InvalidMedia', message: 'Media could not be processed.' } } };
    default: return media.kind === 'image' && media.detail.by_word !== true ? view : { ...view, processing_info: { state: 'succeeded', progress_percent: 100 } };
  }
}

/** POST /2/media/metadata */
export async function describeMedia(call: Call): Promise<Reply | Deed> {
  const body = parseJson(call.body) as { id?: unknown; metadata?: { alt_text?: { text?: unknown }; sensitive_media_warning?: unknown } } | undefined;
  if (typeof body?.id !== 'string' || typeof body.metadata !== 'object' || body.metadata === null) return invalidRequest('$: `id` and `metadata` are required');
  const media = await ownMedia(call, body.id);
  if ('status' in media) return media;
  const text = body.metadata.alt_text?.text;
  if (text !== undefined && (typeof text !== 'string' || [...text].length > 1_000)) return invalidRequest('$.metadata.alt_text.text: may only be 1000 characters long');
  const data = { id: media.id, associated_metadata: body.metadata };
  return privateDeed(media.id, [text ?? null], {
    apply: () => call.sandbox.media.change('twitter', media.id, {
      altText: text ?? media.altText, detail: { ...media.detail, sensitive_media_warning: body.metadata!.sensitive_media_warning ?? null },
    }),
    answer: () => ({ reply: json(200, { data }), withoutProof: json(200, { data: {} }) }),
  });
}

/** POST /2/media/upload: small images in one request */
export async function uploadAtOnce(call: Call): Promise<Reply | Deed> {
  const content = parseMultipart(call.body)?.find((part) => part.name === 'media')?.content;
  const category = (parseForm(call.body) ?? []).find(([name]) => name === 'media_category')?.[1];
  if (content === undefined || category !== 'tweet_image') return invalidRequest('`media` and `media_category` (tweet_image) are required.');
  const type = sniff(content);
  if (type === null || !type.startsWith('image/')) return invalidRequest('media type unrecognized.');
  if (content.length > CATEGORIES.tweet_image!.maxBytes) return invalidRequest('File size exceeds 5242880 bytes.');
  const id = twitterIds.next(Date.now());
  const media_key = `3_${id}`;
  const words = wordsInFile(content);
  return privateDeed(id, [words], {
    apply: async () => {
      const processing = await processingOf(call, [words], false);
      await call.sandbox.media.add('twitter', {
        id, accountId: call.account.id, kind: 'image', mimeType: type, bytes: content.length, sha256: sha256(content), altText: null, words,
        detail: { media_key, category, by_word: processing.byWord, fails: processing.fails }, state: processing.state, readyAt: processing.readyAt,
      });
    },
    answer: () => ({ reply: json(200, { data: { id, media_key, size: content.length, expires_after_secs: LIFETIME_SECONDS } }), withoutProof: json(200, { data: {} }) }),
  });
}
