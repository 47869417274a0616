import { mastodonIds } from '../../ids.ts';
import { processAgain } from '../../processing.ts';
import { json, type Reply } from '../../reply.ts';
import type { NewEntry, Written } from '../../ledger.ts';
import { ledgerMedia, type StoredMedia } from '../../store/media.ts';
import type { StoredObject } from '../../store/objects.ts';
import type { Call, Deed, Done } from '../platform.ts';
import { kindOf, publicationEntry, removalEntry } from '../publication.ts';
import { honoursKeys, INSTANCE } from './instance.ts';
import { presentStatus, shownAttachment, type ShownStatus } from './present.ts';
import { error, imagesAndVideo, invalid, notFound, notProcessed, textTooLong, tooManyFiles, unattachable } from './replies.ts';
import { countedLength, list, readParameters, text, truth, type Parameters } from './status-body.ts';

const KEY_SECONDS = 3_600;
const VISIBILITIES = ['public', 'unlisted', 'private', 'direct'];

/** POST /api/v1/statuses */
export async function createStatus(call: Call): Promise<Reply | Deed> {
  const parameters = readParameters(call.body);
  if (parameters === null) return error(400, 'The request body could not be read');
  const status = readStatus(parameters);
  if ('reply' in status) return status.reply;
  const parent = await referenced(call, status.in_reply_to_id);
  if (parent === undefined) return error(404, "The post you are trying to reply to doesn't appear to exist.");
  if (await referenced(call, status.quoted_status_id) === undefined) return notFound();
  const texts = [status.text, status.spoiler_text, ...(status.poll?.options ?? [])];
  const media = await attachable(call, status, texts);
  if ('status' in media) return media;
  const repliedTo = parent === null ? null : await call.sandbox.accounts.byId(parent.accountId);
  return publication(call, { status, repliedTo: repliedTo?.platformAccountId ?? null, media, texts: [...texts, ...media.map((item) => item.altText)] });
}

interface StatusBody {
  text: string;
  spoiler_text: string;
  sensitive: boolean;
  visibility: string;
  language: string | null;
  in_reply_to_id: string | null;
  quoted_status_id: string | null;
  media_ids: string[];
  poll?: { options: string[]; expires_in: number; multiple: boolean; hide_totals: boolean };
}

function readStatus(parameters: Parameters): StatusBody | { reply: Reply } {
  const spoiler = text(parameters.spoiler_text);
  const status: StatusBody = {
    // A warning without a text becomes the text, as on the platform.
    text: text(parameters.status) === '' ? spoiler : text(parameters.status), spoiler_text: text(parameters.status) === '' ? '' : spoiler,
    sensitive: truth(parameters.sensitive) || spoiler !== '', visibility: text(parameters.visibility) || 'public', language: text(parameters.language) || null,
    in_reply_to_id: text(parameters.in_reply_to_id) || null, quoted_status_id: text(parameters.quoted_status_id) || null, media_ids: list(parameters.media_ids),
  };
  if (!VISIBILITIES.includes(status.visibility)) return { reply: error(422, `'${status.visibility}' is not a valid visibility`) };
  if (text(parameters.scheduled_at) !== '') return { reply: invalid('Scheduled at is not offered by this server') };
  if (status.media_ids.length > INSTANCE.maxMedia) return { reply: tooManyFiles() };
  const fault = readPoll(status, parameters.poll);
  if (fault !== null) return { reply: fault };
  if (status.text.trim() === '' && status.media_ids.length === 0) return { reply: invalid("Text can't be blank") };
  if (countedLength(status.spoiler_text + status.text, INSTANCE.perUrl) > INSTANCE.maxCharacters) return { reply: textTooLong(INSTANCE.maxCharacters) };
  return status;
}

function readPoll(status: StatusBody, given: unknown): Reply | null {
  if (typeof given !== 'object' || given === null) return null;
  if (status.media_ids.length > 0) return tooManyFiles();
  const parameters = given as Parameters;
  const options = list(parameters.options);
  const expires_in = Number(parameters.expires_in ?? 0);
  if (options.length < 2) return invalid('Options must have more than one item');
  if (options.length > INSTANCE.pollOptions) return invalid(`Options can't contain more than ${INSTANCE.pollOptions} items`);
  if (options.some((option) => countedLength(option, INSTANCE.perUrl) > INSTANCE.pollOptionCharacters)) return invalid(`Options cannot be longer than ${INSTANCE.pollOptionCharacters} characters each`);
  if (new Set(options).size < options.length) return invalid('Options contain duplicate items');
  if (!(expires_in >= INSTANCE.pollMinSeconds)) return invalid('Expires at is too soon');
  if (expires_in > INSTANCE.pollMaxSeconds) return invalid('Expires at is too far into the future');
  status.poll = { options, expires_in, multiple: truth(parameters.multiple), hide_totals: truth(parameters.hide_totals) };
  return null;
}

/** The status named, `null` when none is named, `undefined` when it cannot be seen. */
async function referenced(call: Call, id: string | null): Promise<StoredObject | null | undefined> {
  if (id === null) return null;
  const status = await call.sandbox.objects.find('mastodon', call.account.organizationId, id);
  return status === null || status.hidden ? undefined : status;
}

async function attachable(call: Call, status: StatusBody, texts: (string | null)[]): Promise<StoredMedia[] | Reply> {
  const found = await call.sandbox.media.find('mastodon', call.account.id, status.media_ids);
  // A repeated key is answered before anything of the body is looked at, so what it attached before is no fault.
  const free = found.filter((item) => item.attachedTo === null || keyOf(call) !== null);
  if (free.length < status.media_ids.length) return unattachable(status.media_ids.filter((id) => !free.some((item) => item.id === id)));
  const media = await processAgain(call, free.filter((item) => item.attachedTo === null), [...texts, ...found.map((item) => item.altText)]);
  if (free.length > 1 && free.some((item) => item.kind !== 'image')) return imagesAndVideo();
  return media.some((item) => item.state !== 'ready') ? notProcessed() : free;
}

function keyOf(call: Call): string | null {
  const key = call.headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

interface Draft {
  status: StatusBody;
  /** Who wrote the status that is replied to, by the platform's id. */
  repliedTo: string | null;
  media: StoredMedia[];
  texts: (string | null)[];
}

function publication(call: Call, { status, repliedTo, media, texts }: Draft): Deed {
  const createdAt = new Date();
  const id = mastodonIds.next(createdAt.getTime());
  const { text: content, media_ids: attach, in_reply_to_id: parentId, quoted_status_id: quoted, ...detail } = status;
  const entry: NewEntry = publicationEntry(call, {
    objectId: id, kind: kindOf(call, { reply: parentId !== null, quote: quoted !== null }), seq: id, createdAt, text: content, parentId, media: media.map(ledgerMedia),
    detail: { ...detail, ...(quoted === null ? {} : { quoted_status_id: quoted }), in_reply_to_account_id: repliedTo, media: media.map(shownAttachment) },
  });
  const key = keyOf(call);
  entry.key = key;
  entry.attach = attach;
  if (key !== null && honoursKeys(call)) Object.assign(entry, { unique_key: key, unique_for: KEY_SECONDS });
  return { texts, subject: `${content}\n${detail.spoiler_text}`, entry, answer: (written) => published(call, entry, written) };
}

/** The new status, or the first one under the same key, whatever the body says this time. */
async function published(call: Call, entry: NewEntry, written: Written): Promise<Done> {
  const { baseUrl } = call.sandbox.settings;
  if (written.outcome === 'media_taken') return both(unattachable(entry.attach ?? []));
  if (written.outcome !== 'repeated') return done(presentStatus(entry.object!, call.account, baseUrl));
  const first = await call.sandbox.objects.stored('mastodon', written.objectId);
  // The key is still known when its status was deleted, and then there is nothing to give back.
  return first === null || first.state !== 'public' ? both(notFound()) : done(presentStatus(asShown(first), call.account, baseUrl));
}

const both = (reply: Reply): Done => ({ reply, withoutProof: reply });

function done(status: Record<string, unknown>): Done {
  const { id: _, url: __, uri: ___, ...rest } = status;
  return { reply: json(200, status), withoutProof: json(200, rest) };
}

export function asShown(status: StoredObject): ShownStatus {
  return { object_id: status.objectId, url: status.url, text: status.text, parent_id: status.parentId, detail: status.detail, created_at: status.createdAt.toISOString() };
}

/** DELETE /api/v1/statuses/:id gives the status back, with its source. */
export async function deleteStatus(call: Call): Promise<Reply | Deed> {
  const id = call.params.id!;
  const status = await call.sandbox.objects.stored('mastodon', id);
  if (status === null || status.accountId !== call.account.id || status.state !== 'public') return notFound();
  const view = { ...presentStatus(asShown(status), call.account, call.sandbox.settings.baseUrl), text: status.text };
  return {
    texts: [status.text], subject: id, entry: removalEntry(call, id),
    answer: (written) => (written.outcome === 'done' ? done(view) : both(notFound())),
  };
}
