import { createHash } from 'node:crypto';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { MediaItem } from '../../../../infra/db/entities/post.entity.ts';
import { findTwins, type Twin } from '../../../../infra/db/repositories/twins.ts';
import type { Tx } from '../../../../infra/db/database.ts';
import { planIssue, type PlanIssue } from './issues.ts';

const WINDOW_MS = 86_400_000;
/** These platforms refuse repeated texts by themselves. */
const REFUSE_REPEATED: ReadonlySet<string> = new Set(['twitter', 'linkedin', 'facebook']);

interface Content {
  text: string | null;
  media: readonly MediaItem[];
}

/** What two targets have in common when a reader would call them the same post; null where there is nothing to compare. */
export function fingerprintOf({ text, media }: Content): string | null {
  const words = plain(text ?? '');
  if (words === '' && media.length === 0) return null;
  return createHash('sha256').update(JSON.stringify([words, media.map(({ url }) => url.replace(/[?#].*$/s, ''))])).digest('hex');
}

function plain(text: string): string {
  const untracked = text.replaceAll(/https?:\/\/\S+/gi, withoutTracking);
  return untracked.normalize('NFC').toLowerCase().replaceAll(/\s+/gu, ' ').trim();
}

function withoutTracking(address: string): string {
  const [, base = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(address) ?? [];
  const kept = query.split('&').filter((pair) => pair !== '' && !/^utm_/i.test(pair)).join('&');
  return `${base}${kept === '' ? '' : `?${kept}`}${fragment}`;
}

export interface Fingerprinted {
  account: Account;
  fingerprint: string | null;
}

/** The latest target of each account that has the same content within a day of `at`. A courtesy: only an Idempotency-Key is a guarantee. */
export async function twinsOf(tx: Tx, targets: readonly Fingerprinted[], { at, exceptPostId }: { at: Date; exceptPostId: string | null }): Promise<Map<string, Twin>> {
  const wanted = targets.flatMap(({ account, fingerprint }) => (fingerprint === null ? [] : [{ accountId: account.id, fingerprint }]));
  const from = new Date(at.getTime() - WINDOW_MS);
  const to = new Date(at.getTime() + WINDOW_MS);
  return wanted.length === 0 ? new Map() : findTwins(tx, { wanted, from, to, exceptPostId });
}

/** `shown`: whether the caller may see the other post; that there is one counts all the same. */
export function duplicateIssue(account: Account, twin: Twin, { allowed, shown }: { allowed: boolean; shown: boolean }): PlanIssue {
  const refuses = REFUSE_REPEATED.has(account.platform) && !allowed;
  return planIssue({
    code: 'DUPLICATE_CONTENT', severity: refuses ? 'error' : 'warning', account, path: ['content'],
    message: `This account has the same content in another post of ${twin.at.toISOString()}.`,
    fix: refuses ? 'Change the text, or send allow_duplicate: true if it is meant.' : 'Nothing to do if it is meant.',
    details: { ...(shown ? { post_id: twin.postId, target_id: twin.targetId } : {}), at: twin.at.toISOString() },
  });
}
