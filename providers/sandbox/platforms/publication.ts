import { pageIdOf } from '../ids.ts';
import type { EntryKind, LedgerMedia, NewEntry } from '../ledger.ts';
import { entryOf } from '../serve.ts';
import type { Call } from './platform.ts';

export interface Publication {
  objectId: string;
  kind: EntryKind;
  seq: string;
  createdAt: Date;
  text: string | null;
  parentId: string | null;
  media: LedgerMedia[];
  detail: Record<string, unknown>;
}

/** Address of an object's public page. */
export function pageUrl(call: Call, objectId: string): { pageId: string; url: string } {
  const { baseUrl, secret } = call.sandbox.settings;
  // A caller that is given no address makes one from the id, and must come to the same page.
  const pageId = call.platform.answersWithUrl ? pageIdOf(secret, call.platform.name, objectId) : objectId;
  return { pageId, url: `${baseUrl}/sandbox/p/${call.platform.name}/${pageId}` };
}

/** The ledger entry of something that becomes public. Words and the time of reading are put in when it is written. */
export function publicationEntry(call: Call, made: Publication): NewEntry {
  const { pageId, url } = pageUrl(call, made.objectId);
  return {
    ...entryOf(call), kind: made.kind, object_id: made.objectId, platform_post_id: made.objectId, parent_id: made.parentId, url,
    text: made.text, media: made.media, answered: 'success', word: null,
    object: {
      object_id: made.objectId, kind: made.kind, page_id: pageId, url, text: made.text, parent_id: made.parentId, media: made.media,
      detail: made.detail, state: 'public', hidden: false, seq: made.seq, created_at: made.createdAt.toISOString(),
      visible_at: made.createdAt.toISOString(), vanish_at: null,
    },
  };
}

/** A step named `publish` publishes, whatever it answers to; without a trace a reply is a comment and a quote a quote. */
export function kindOf(call: Call, relation: { reply: boolean; quote: boolean }): EntryKind {
  if (call.trace.step === 'publish') return 'publish';
  if (relation.reply) return 'comment';
  return relation.quote ? 'quote' : 'publish';
}

/** The ledger entry of a removal. */
export function removalEntry(call: Call, objectId: string): NewEntry {
  return {
    ...entryOf(call), kind: 'remove', object_id: objectId, platform_post_id: objectId, url: pageUrl(call, objectId).url, answered: 'success', word: null,
    remove: objectId,
  };
}
