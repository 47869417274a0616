import { randomBytes } from 'node:crypto';

/** Prefix of each kind of id. The rest is the 32 hex digits of a UUIDv7, so ids sort by creation. */
export const ID_PREFIXES = {
  organization: 'org_', user: 'usr_', key: 'key_', workspace: 'ws_', account: 'acc_', post: 'post_', target: 'pt_',
  operation: 'op_', evidence: 'obs_', verdict: 'ver_', event: 'whe_', request: 'req_', media: 'med_',
  sandboxEntry: 'sbx_', timeline: 'tle_', audit: 'aud_', template: 'tmpl_', signature: 'sig_', tag: 'tag_', queue: 'qs_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

let lastMs = 0;
let sequence = 0;

/** A new id. Ids of one process made within one millisecond keep their order (UUIDv7 with a 12-bit counter). */
export function newId(kind: IdKind, nowMs: number = Date.now()): string {
  return ID_PREFIXES[kind] + uuidv7Hex(nowMs);
}

function uuidv7Hex(nowMs: number): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = 0;
  } else if (++sequence > 0xfff) {
    lastMs += 1;
    sequence = 0;
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const random = randomBytes(8);
  random[0] = (random[0]! & 0x3f) | 0x80;
  return `${time}7${sequence.toString(16).padStart(3, '0')}${random.toString('hex')}`;
}

export function isId(kind: IdKind, text: unknown): text is string {
  const prefix = ID_PREFIXES[kind];
  return typeof text === 'string' && text.length === prefix.length + 32 && text.startsWith(prefix) && /^[0-9a-f]{32}$/.test(text.slice(prefix.length));
}
