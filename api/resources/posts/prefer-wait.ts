import { hasTargetToWaitFor, readPost } from '../../../infra/db/repositories/posts.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { inSnapshot, tenant } from '../../../infra/db/tenant.ts';
import { lookAgain } from '../../look-again.ts';
import type { Call, Reply } from '../../route.ts';
import { etagOf, presentPost } from './posts.present.ts';

/** Lets a reply wait, after the commit, until nothing of the post is under way any more or nothing will move in time. */
export function waiting(call: Call, { state, reply }: { state: PostState; reply: Reply }): Reply {
  if (call.waitSeconds === 0 || state.post.status !== 'publishing') return reply;
  const { id } = state.post;
  return { ...reply, settle: () => settle(call, { postId: id, reply }) };
}

async function settle(call: Call, { postId, reply }: { postId: string; reply: Reply }): Promise<Reply> {
  const { infra, caller, waitSeconds } = call;
  const deadline = new Date(infra.clock.now().getTime() + waitSeconds * 1000);
  const end = performance.now() + waitSeconds * 1000;
  const look = <T>(work: (tx: Call['tx']) => Promise<T>) => inSnapshot(infra.db, tenant(caller), work);
  await lookAgain(end, async (isLast) => (!isLast && (await look((tx) => hasTargetToWaitFor(tx, postId, deadline))) ? null : 'done'));
  const state = await look((tx) => readPost(tx, postId));
  const headers = { ...reply.headers, 'Preference-Applied': `wait=${waitSeconds}` };
  // Deleted meanwhile: what the commit said is the last that can be said.
  if (state === null || state.post.deletedAt) return { ...reply, headers };
  return { status: reply.status, body: presentPost(state, caller), headers: { ...headers, ETag: etagOf(state.post) } };
}
