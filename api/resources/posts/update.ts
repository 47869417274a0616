import { ApiError } from '../../../infra/contract/errors.ts';
import type { Post } from '../../../infra/db/entities/post.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { withTags } from '../../../infra/db/repositories/tags.ts';
import { lockPost } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { assertPost, refuseArchived } from './access.ts';
import { applyUpdate } from './apply-update.ts';
import { changedFields, wishedRow, type Wished } from './changes.ts';
import { refusing } from './planning/judge.ts';
import { planPost } from './planning/plan.ts';
import { readTags } from './planning/sources.ts';
import type { Schedule } from './planning/schedule.ts';
import { scheduleOfChange, wishOfChange } from './planning/wish.ts';
import { etagOf, presentPost, workspacesShown } from './posts.present.ts';
import { waiting } from './prefer-wait.ts';
import { expectedRevision, refuseStale } from './revision.ts';

/** What each target is made of. The others (`notes`, `catch_up`, `tag_ids`) leave the targets as they are. */
const PLANNED_FIELDS = [
  'content', 'media', 'target_options', 'targets', 'scheduled_at', 'timezone', 'template_id', 'template_variables', 'skip_signature', 'shorten_urls',
] as const;

/** PATCH /v1/posts/{id}, under the row lock that the start of publishing takes too: whoever commits first wins. */
export async function updatePost(call: Call): Promise<Reply> {
  const { tx, params, caller, body } = call;
  const expected = expectedRevision(call);
  const stored = await lockPost(tx, params.id!);
  assertPost(stored, caller);
  const { post } = stored;
  const schedule = scheduleOfChange(call, post);
  await refuseArchived(call, post);
  const before = await withTags(tx, stored);
  const wished = await wishedOf(call, before, { schedule, conflicts: () => refuseConflicts(post, expected) });
  const changed = changedFields(body, before, wished);
  const after = changed.length === 0 ? before : await applyUpdate(call, before, { ...wished, changed });
  const headers = { ETag: etagOf(after.post), 'Oncepost-Warnings': String(wished.plan?.issues.length ?? 0) };
  const reply = { status: 200, body: presentPost(after, caller), headers, workspaceIds: workspacesShown(after.post, caller) };
  return waiting(call, { state: after, reply });
}

/** What stays is not judged again: without a new text, time or target, nobody asks whether the old ones would still pass. */
async function wishedOf(call: Call, state: PostState, { schedule, conflicts }: { schedule: Schedule; conflicts: () => void }): Promise<Wished> {
  const { body } = call;
  const { post, tags: stored = [] } = state;
  if (PLANNED_FIELDS.some((name) => name in body)) {
    const plan = await planPost(call, wishOfChange(body, state, schedule), { judge: refusing, lock: true, conflicts });
    return { row: wishedRow(body, post, plan), plan, tags: 'tag_ids' in body ? plan.tags : stored };
  }
  const tags = 'tag_ids' in body ? await readTags(call, body.tag_ids ?? []) : stored;
  conflicts();
  return { row: wishedRow(body, post, null), plan: null, tags };
}

function refuseConflicts(post: Post, expected: number | null): void {
  refuseState(post);
  refuseStale(post, expected);
}

function refuseState(post: Post): void {
  if (post.status === 'draft' || post.status === 'scheduled') return;
  if (post.status === 'publishing') {
    throw new ApiError('POST_PUBLISHING', 'The post is being published, so it cannot be changed. Look again when it has ended.', { details: { status: post.status, revision: post.revision } });
  }
  throw new ApiError('INVALID_STATE', `A ${post.status} post cannot be changed here. Retry what failed, or make a new post.`, { details: { status: post.status } });
}
