import { parseMultipart } from '../../body.ts';
import { sniff, wordsInFile } from '../../files.ts';
import { mastodonIds, sha256 } from '../../ids.ts';
import { processingOf } from '../../processing.ts';
import { empty, json, type Reply } from '../../reply.ts';
import type { StoredMedia } from '../../store/media.ts';
import type { Call, Deed, Done } from '../platform.ts';
import { INSTANCE, MEDIA_TYPES } from './instance.ts';
import { presentAttachment, shownAttachment } from './present.ts';
import { error, invalid, notFound, processingError } from './replies.ts';
import { readParameters, text } from './status-body.ts';

/** POST /api/v2/media: 200 when it is ready, 202 while it is processed */
export function uploadMedia(call: Call): Reply | Deed {
  const parts = parseMultipart(call.body);
  const file = parts?.find((part) => part.name === 'file' && part.filename !== null);
  if (parts === null || file === undefined) return invalid("File can't be blank");
  const field = (name: string): string | null => parts.find((part) => part.name === name && part.filename === null)?.content.toString('utf8') ?? null;
  const type = sniff(file.content) ?? '';
  const kind = MEDIA_TYPES[type];
  if (kind === undefined) return invalid('File content type is invalid, File is invalid');
  const maxBytes = kind === 'image' || kind === 'gif' ? INSTANCE.imageBytes : INSTANCE.videoBytes;
  if (file.content.length > maxBytes) return invalid(`File file size must be less than ${maxBytes / 1_048_576} MB`);
  const description = field('description');
  if (description !== null && [...description].length > INSTANCE.descriptionLimit) return invalid(`Description is too long (maximum is ${INSTANCE.descriptionLimit} characters)`);
  const media: Omit<StoredMedia, 'attachedTo' | 'createdAt'> = {
    id: mastodonIds.next(Date.now()), accountId: call.account.id, kind, mimeType: type, bytes: file.content.length, sha256: sha256(file.content), altText: description,
    words: wordsInFile(file.content), detail: { focus: readFocus(field('focus')) }, state: 'ready', readyAt: null,
  };
  return {
    texts: [description, file.filename, media.words], subject: `${media.sha256} ${description}`, entry: null,
    apply: async () => {
      const processing = await processingOf(call, [description, file.filename, media.words], kind !== 'image');
      const failed = processing.state === 'failed';
      Object.assign(media, { state: failed ? 'processing' : processing.state, readyAt: failed ? new Date() : processing.readyAt });
      media.detail = { ...media.detail, by_word: processing.byWord, fails: processing.fails };
      await call.sandbox.media.add('mastodon', media);
    },
    answer: () => attachmentReply(call, { ...media, attachedTo: null, createdAt: call.receivedAt }, media.state === 'ready' ? 200 : 202),
  };
}

function readFocus(given: string | null): { x: number; y: number } | null {
  const match = /^(-?[0-9.]+),(-?[0-9.]+)$/.exec(given ?? '');
  return match === null ? null : { x: Number(match[1]), y: Number(match[2]) };
}

function attachmentReply(call: Call, media: StoredMedia, status: number): Done {
  const view = presentAttachment(shownAttachment(media), { baseUrl: call.sandbox.settings.baseUrl, ready: media.state === 'ready' });
  const { id: _, ...rest } = view;
  return { reply: json(status, view), withoutProof: json(status, rest) };
}

/** The account's own media that no status has taken; a taken one is as good as none. */
async function unattached(call: Call): Promise<StoredMedia | Reply> {
  const [media] = await call.sandbox.media.find('mastodon', call.account.id, [call.params.id!]);
  if (media === undefined || media.attachedTo !== null) return notFound();
  return media.state === 'failed' ? processingError() : media;
}

/** GET /api/v1/media/:id: 206 while it is processed */
export async function readMedia(call: Call): Promise<Reply> {
  const media = await unattached(call);
  return 'status' in media ? media : attachmentReply(call, media, media.state === 'ready' ? 200 : 206).reply;
}

/** PUT /api/v1/media/:id */
export async function changeMedia(call: Call): Promise<Reply | Deed> {
  const media = await unattached(call);
  if ('status' in media) return media;
  const parameters = readParameters(call.body);
  if (parameters === null) return error(400, 'The request body could not be read');
  const changed: StoredMedia = {
    ...media, altText: parameters.description === undefined ? media.altText : text(parameters.description),
    detail: { ...media.detail, ...(parameters.focus === undefined ? {} : { focus: readFocus(text(parameters.focus)) }) },
  };
  return {
    texts: [changed.altText], subject: media.id, entry: null,
    apply: () => call.sandbox.media.change('mastodon', media.id, { altText: changed.altText, detail: changed.detail }),
    answer: () => attachmentReply(call, changed, media.state === 'ready' ? 200 : 206),
  };
}

/** DELETE /api/v1/media/:id */
export async function removeMedia(call: Call): Promise<Reply | Deed> {
  const media = await unattached(call);
  if ('status' in media) return media;
  return {
    texts: [], subject: media.id, entry: null, apply: () => call.sandbox.media.remove('mastodon', media.id),
    answer: () => ({ reply: json(200, {}), withoutProof: empty(200) }),
  };
}
