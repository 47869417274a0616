import { readPost } from '../../../infra/db/repositories/posts.ts';
import type { Call, Reply } from '../../route.ts';
import { assertPost } from './access.ts';
import { etagOf, presentPost, workspacesShown } from './posts.present.ts';

/** GET /v1/posts/{id}: always in full; the ETag serves `If-Match`, not caching. */
export async function getPost(call: Call): Promise<Reply> {
  const state = await readPost(call.tx, call.params.id!);
  assertPost(state, call.caller);
  return { status: 200, body: presentPost(state, call.caller), headers: { ETag: etagOf(state.post) }, workspaceIds: workspacesShown(state.post, call.caller) };
}
