import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../infra/contract/errors.ts';
import { CATCH_UP_LATENESS_DEFAULT_SECONDS } from '../../../infra/contract/limits.ts';
import type { Post } from '../../../infra/db/entities/post.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { withTags } from '../../../infra/db/repositories/tags.ts';
import { lockPost } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { assertPost, refuseArchived } from './access.ts';
import { applyUpdate, type Change } from './apply-update.ts';
import { refusing } from './planning/judge.ts';
import { planPost, type PostPlan } from './planning/plan.ts';
import { readTags } from './planning/sources.ts';
import { inRange, orRefuse, readWallTime, scheduleOrRefuse, type Schedule } from './planning/schedule.ts';
import { wishOfChange } from './planning/wish.ts';
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
  const state = await lockPost(tx, params.id!);
  assertPost(state, caller);
  await refuseArchived(call, state.post);
  const before = await withTags(tx, state);
  const change = await changeOf(call, before, () => {
    refuseState(state.post);
    refuseStale(state.post, expected);
  });
  const changed = changedFields(body, before, change);
  const after = changed.length === 0 ? before : await applyUpdate(call, before, { ...change, changed });
  const headers = { ETag: etagOf(after.post), 'Oncepost-Warnings': String(change.plan?.issues.length ?? 0) };
  const reply = { status: 200, body: presentPost(after, caller), headers, workspaceIds: workspacesShown(after.post, caller) };
  return waiting(call, { state: after, reply });
}

/** What stays is not judged again: without a new text, time or target, nobody asks whether the old ones would still pass. */
async function changeOf(call: Call, state: PostState, conflicts: () => void): Promise<Omit<Change, 'changed'>> {
  const { body } = call;
  const fields = { notes: 'notes' in body ? body.notes : state.post.notes ?? null, catchUp: catchUpOf(body, state.post) };
  const isPlanned = PLANNED_FIELDS.some((name) => name in body);
  if (isPlanned) {
    const plan = await planPost(call, wishOfChange(body, state, scheduleOfChange(call, state.post)), { judge: refusing, lock: true, conflicts });
    return { ...fields, plan, tags: 'tag_ids' in body ? plan.tags : state.tags ?? [] };
  }
  const tags = 'tag_ids' in body ? await readTags(call, body.tag_ids ?? []) : state.tags ?? [];
  conflicts();
  return { ...fields, tags, plan: null };
}

/**
 * The time as given, or the stored wall time in a new zone, or what is stored. A time that is stored is not judged again, in
 * whatever form it comes back; as the instant that the post shows it is still the wall time that it was.
 */
export function scheduleOfChange({ body, now }: Pick<Call, 'body' | 'now'>, post: Post): Schedule {
  const timezone: string = 'timezone' in body ? body.timezone ?? 'UTC' : post.timezone;
  const stored = post.scheduledAt ?? null;
  const standing: Schedule = { kind: post.status === 'draft' ? 'draft' : 'later', at: stored, wallTime: post.wallTime ?? null, warnings: [] };
  if (typeof body.scheduled_at === 'string') {
    const given = scheduleOrRefuse(body.scheduled_at, { timezone, now, stored });
    const isShown = given.wallTime === null && given.at?.getTime() === stored?.getTime() && timezone === post.timezone;
    return isShown && given.kind === 'later' ? standing : given;
  }
  if (timezone === post.timezone || post.status !== 'scheduled' || !post.wallTime) return standing;
  return orRefuse(inRange(readWallTime(post.wallTime, timezone), { now, stored }), 'timezone');
}

function catchUpOf(body: Call['body'], post: Post): Change['catchUp'] {
  if (!('catch_up' in body)) return { maxLatenessSeconds: post.maxLatenessSeconds, onLate: post.onLate };
  return { maxLatenessSeconds: body.catch_up?.max_lateness_seconds ?? CATCH_UP_LATENESS_DEFAULT_SECONDS, onLate: body.catch_up?.on_late ?? 'hold' };
}

function refuseState(post: Post): void {
  if (post.status === 'draft' || post.status === 'scheduled') return;
  if (post.status === 'publishing') {
    throw new ApiError('POST_PUBLISHING', 'The post is being published, so it cannot be changed. Look again when it has ended.', { details: { status: post.status, revision: post.revision } });
  }
  throw new ApiError('INVALID_STATE', `A ${post.status} post cannot be changed here. Retry what failed, or make a new post.`, { details: { status: post.status } });
}

/** Wire names of the fields whose stored value becomes another. Giving what is stored already changes nothing. */
function changedFields(body: Call['body'], state: PostState, change: Omit<Change, 'changed'>): string[] {
  const { post, tags = [] } = state;
  const { plan, notes, catchUp } = change;
  const same: Record<string, boolean> = {
    ...(plan === null ? {} : samePlan(body, state, plan)),
    notes: notes === (post.notes ?? null),
    catch_up: catchUp.maxLatenessSeconds === post.maxLatenessSeconds && catchUp.onLate === post.onLate,
    tag_ids: isDeepStrictEqual(change.tags.map((tag) => tag.id).toSorted(), tags.map((tag) => tag.id).toSorted()),
  };
  return Object.keys(same).filter((name) => name in body && !same[name]);
}

function samePlan(body: Call['body'], { post, targets }: PostState, plan: PostPlan): Record<string, boolean> {
  const { schedule, source } = plan;
  const isSourceSame = isDeepStrictEqual({ ...source, variables: {} }, { ...post.textSource, variables: {} });
  const isSignatureSame = post.status === 'draft' || isDeepStrictEqual(plan.signature, post.signature ?? null);
  return {
    content: isSourceSame,
    media: isDeepStrictEqual(body.media ?? null, post.media ?? null),
    target_options: isDeepStrictEqual(plan.targetOptions, post.targetOptions ?? null),
    timezone: plan.timezone === post.timezone,
    targets: isDeepStrictEqual(plan.targets.map(({ account, byId }) => [account.id, byId]), targets.map(({ accountId, byId }) => [accountId, byId])),
    scheduled_at: isTimeSame(post, schedule) && body.scheduled_at !== 'auto',
    template_id: (body.template_id ?? null) === (post.templateId ?? null) && ('content' in body || isSourceSame),
    template_variables: isDeepStrictEqual(source.variables, post.textSource.variables),
    skip_signature: (body.skip_signature ?? false) === post.skipSignature && isSignatureSame,
    shorten_urls: (body.shorten_urls ?? false) === post.shortenUrls,
  };
}

function isTimeSame(post: Post, { kind, at, wallTime }: Schedule): boolean {
  return (kind === 'draft' || kind === 'later') && at?.getTime() === post.scheduledAt?.getTime() && wallTime === (post.wallTime ?? null) && (kind === 'draft') === (post.status === 'draft');
}
