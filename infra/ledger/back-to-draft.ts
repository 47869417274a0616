import type { PostState } from '../db/repositories/events.ts';

/** Takes back what was frozen for sending: it is rendered anew when the post is scheduled again. The caller tells of it. */
export function backToDraft({ post, targets }: PostState, now: Date): void {
  for (const target of targets) {
    Object.assign(target, { status: 'draft', text: null, options: {}, media: [], fingerprint: null, error: null, waitingFor: null, waitingUntil: null, updatedAt: now });
  }
  // Where the caller wanted none, one that is named came with the text.
  const signature = post.skipSignature ? post.signature : null;
  Object.assign(post, { content: post.textSource.text, signature, autoSchedule: null, scheduledAt: null, wallTime: null });
}
