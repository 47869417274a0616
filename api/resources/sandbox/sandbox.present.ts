import type { LedgerRow, MediaRow, ObjectRow, WordRow } from './admin-types.ts';
import type { KnownOperation } from './doubles.ts';

type Wire = Record<string, unknown>;

export function presentEntry(entry: LedgerRow, { operation, isDouble }: { operation: KnownOperation | undefined; isDouble: boolean }): Wire {
  const { request } = entry;
  return {
    id: entry.id,
    epoch: entry.epoch,
    ordinal: entry.ordinal,
    at: entry.at,
    platform: entry.platform,
    account_id: entry.account_id,
    kind: entry.kind,
    object_id: entry.object_id,
    platform_post_id: entry.platform_post_id,
    parent_id: entry.parent_id,
    url: entry.url,
    text: entry.text,
    media: entry.media.map(presentMedia),
    recipient: entry.recipient,
    post_id: operation?.post_id ?? null,
    target_id: operation?.target_id ?? null,
    operation_id: entry.operation_id,
    step: entry.step,
    attempt: entry.attempt,
    key: entry.key,
    answered: entry.answered,
    word: entry.word,
    double: isDouble,
    request: { id: request.id, method: request.method, path: request.path, body_sha256: request.body_sha256, bytes: request.bytes },
  };
}

export function presentObject(object: ObjectRow): Wire {
  return {
    object_id: object.object_id,
    platform: object.platform,
    account_id: object.account_id,
    kind: object.kind,
    url: object.url,
    text: object.text,
    media: object.media.map(presentMedia),
    parent_id: object.parent_id,
    state: object.state,
    hidden: object.hidden,
    created_at: object.created_at,
  };
}

export function presentWord({ name, group, argument, description }: WordRow): Wire {
  if (argument === null) return { name, group, argument: null, description };
  const { kind, fallback } = argument;
  const range = argument.kind === 'integer' ? { min: argument.min, max: argument.max } : { values: argument.values };
  return { name, group, argument: { kind, ...range, default: fallback }, description };
}

function presentMedia({ kind, mime_type, bytes, sha256, alt_text }: MediaRow): Wire {
  return { kind, mime_type, bytes, sha256, alt_text };
}
