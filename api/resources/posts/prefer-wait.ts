import { setTimeout as pause } from 'node:timers/promises';
import { POST_WAIT_MAX_SECONDS } from '../../../infra/contract/limits.ts';
import { hasTargetToWaitFor, readPost } from '../../../infra/db/repositories/posts.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { inSnapshot, tenant } from '../../../infra/db/tenant.ts';
import type { Call, Reply } from '../../route.ts';
import { validationError } from '../../validation/issues.ts';
import { etagOf, presentPost } from './posts.present.ts';

const LOOK_AGAIN_MS = 100;

/** `Prefer: wait=N` in seconds; 0 = absent. Other preferences are nobody's business here. */
export function readWait(headers: Call['headers']): number {
  const wish = (headers.prefer ?? '').split(/[,;]/).map((one) => one.trim()).find((one) => /^wait\s*=/i.test(one));
  if (wish === undefined) return 0;
  const value = wish.replace(/^wait\s*=\s*/i, '').replace(/^"(.*)"$/, '$1');
  const seconds = /^\d{1,4}$/.test(value) ? Number(value) : Number.NaN;
  if (seconds <= POST_WAIT_MAX_SECONDS) return seconds;
  throw validationError([{ code: Number.isNaN(seconds) ? 'invalid_string' : 'too_big', message: `Prefer: wait must be a whole number of seconds from 0 to ${POST_WAIT_MAX_SECONDS}`, path: ['Prefer'], in: 'header' }]);
}

/** Lets a reply wait, after the commit, until nothing of the post is under way any more or nothing will move in time. */
export function waiting(call: Call, work: { state: PostState; reply: Reply; waitSeconds: number }): Reply {
  const { state, reply, waitSeconds } = work;
  if (waitSeconds === 0 || state.post.status !== 'publishing') return reply;
  const { id } = state.post;
  return { ...reply, settle: () => settle(call, { postId: id, reply, waitSeconds }) };
}

async function settle(call: Call, { postId, reply, waitSeconds }: { postId: string; reply: Reply; waitSeconds: number }): Promise<Reply> {
  const { infra, caller } = call;
  const deadline = new Date(infra.clock.now().getTime() + waitSeconds * 1000);
  const end = performance.now() + waitSeconds * 1000;
  const look = <T>(work: (tx: Call['tx']) => Promise<T>) => inSnapshot(infra.db, tenant(caller), work);
  while (performance.now() < end && (await look((tx) => hasTargetToWaitFor(tx, postId, deadline)))) {
    await pause(Math.min(LOOK_AGAIN_MS, Math.max(0, end - performance.now())));
  }
  const state = await look((tx) => readPost(tx, postId));
  const headers = { ...reply.headers, 'Preference-Applied': `wait=${waitSeconds}` };
  // Deleted meanwhile: what the commit said is the last that can be said.
  if (state === null || state.post.deletedAt) return { ...reply, headers };
  return { status: reply.status, body: presentPost(state, caller), headers: { ...headers, ETag: etagOf(state.post) } };
}
