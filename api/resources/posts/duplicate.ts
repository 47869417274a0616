import { ApiError } from '../../../infra/contract/errors.ts';
import { PostEntity, type Post } from '../../../infra/db/entities/post.entity.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { withTags } from '../../../infra/db/repositories/tags.ts';
import { notePost } from '../../../infra/db/repositories/timeline.ts';
import { lockPost } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { mayAccess } from '../../workspace-access.ts';
import { variablesIn } from '../content-templates/variables.ts';
import { assertPost } from './access.ts';
import { createWished } from './create.ts';
import type { PostWish } from './planning/plan.ts';
import { scheduleOrRefuse } from './planning/schedule.ts';
import { wishOfCreation } from './planning/wish.ts';

/**
 * POST /v1/posts/{id}/duplicate: a creation whose body is made of another post, so that it is checked, counted and told
 * as every other. Under the source's lock: whether a failed target is unknown must not change between looking and copying.
 */
export async function duplicatePost(call: Call): Promise<Reply> {
  const { tx, now, params, caller, body } = call;
  const source = await lockPost(tx, params.id!);
  assertPost(source, caller);
  const { post } = source;
  const schedule = scheduleOrRefuse(body.scheduled_at ?? 'draft', { timezone: post.timezone, now });
  const aim = aimOf(source, body.targets ?? 'all');
  const { tags = [] } = await withTags(tx, source);
  const usable = tags.filter(({ workspaceId }) => !workspaceId || mayAccess(caller, workspaceId));
  const { notes = null, allow_duplicate } = body;
  const copied = { ...copyOf(post), content: body.content ?? post.content ?? null, notes, allow_duplicate, tag_ids: usable.map((tag) => tag.id) };
  const reply = await createWished({ ...call, body: copied }, { ...wishOfCreation(copied, schedule), ...aim, ...inheritedOf(post, body) });
  await tell(call, post, (reply.body as { id: string }).id);
  return reply;
}

/** A workspace that was given is given again; one that followed from the accounts follows from those of the copy. */
function copyOf(post: Post): Record<string, unknown> {
  return {
    media: post.media ?? null,
    target_options: post.targetOptions ?? null,
    timezone: post.timezone,
    // The text has the signature already; that of a draft has none yet.
    skip_signature: post.status === 'draft' ? post.skipSignature : true,
    catch_up: { max_lateness_seconds: post.maxLatenessSeconds, on_late: post.onLate },
    ...(post.workspaceGiven && post.workspaceId ? { workspace_id: post.workspaceId } : {}),
  };
}

/**
 * With a text of its own the copy has none of the source's words; a draft has words that are not rendered yet. Where the
 * shared text is not what every target says, the template speaks again.
 */
function inheritedOf(post: Post, { content }: Call['body']): Partial<PostWish> {
  if (typeof content === 'string') return {};
  const source = { source: post.textSource, variables: post.textSource.variables };
  // A draft that is a copy itself may have come with a signature.
  if (post.status === 'draft') return post.skipSignature ? { ...source, signature: post.signature ?? null } : source;
  const speaksToEach = post.textSource.kind === 'template' && (post.textSource.overrides !== null || variablesIn(post.content ?? '').includes('account_name'));
  return { signature: post.signature ?? null, ...(speaksToEach ? source : {}) };
}

/** Accounts that are taken over are named as they were in the source. */
function aimOf(source: PostState, wished: 'all' | 'failed' | readonly string[]): Pick<PostWish, 'selectors' | 'reached'> {
  if (typeof wished !== 'string') return { selectors: wished, reached: new Set() };
  const taken = wished === 'all' ? source.targets : failedOf(source);
  return { selectors: taken.map((target) => target.accountId), reached: new Set(taken.filter((target) => !target.byId).map((target) => target.accountId)) };
}

function failedOf({ post: { status }, targets, operations }: PostState): readonly Target[] {
  const failed = targets.filter((target) => target.status === 'failed');
  const known = failed.filter((target) => operations.get(target.operationId ?? '')?.status !== 'unknown');
  if (known.length > 0) return known;
  if (failed.length === 0) throw new ApiError('INVALID_STATE', `Nothing of a ${status} post has failed, so there is nothing to duplicate. Name targets, or take all.`, { details: { status } });
  throw new ApiError('PROVIDER_OUTCOME_UNKNOWN', 'Nobody knows whether the failed targets were published, so they are not copied. Wait for a proof, or give a verdict on the operations.', {
    details: { operation_ids: failed.map((target) => target.operationId) },
  });
}

/** Each of the two says in its timeline where the other is. */
async function tell({ tx, now, caller, requestId }: Call, source: Post, copyId: string): Promise<void> {
  const copy = await tx.findOneOrFail(PostEntity, { id: copyId });
  const by = { actor: caller.actor, requestId };
  notePost(tx, source, [{ type: 'duplicated', message: 'A copy of the post was made.', ...by, data: { copy_id: copyId, workspace_id: copy.workspaceId ?? null } }], now);
  notePost(tx, copy, [{ type: 'duplicated', message: 'The post was made as a copy of another.', ...by, data: { source_id: source.id, workspace_id: source.workspaceId ?? null } }], now);
}
