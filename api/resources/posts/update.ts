import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../infra/contract/errors.ts';
import { CATCH_UP_LATENESS_DEFAULT_SECONDS } from '../../../infra/contract/limits.ts';
import type { Post } from '../../../infra/db/entities/post.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { lockPost } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { assertPost } from './access.ts';
import { applyUpdate, type Change, type WishedFields } from './apply-update.ts';
import { refuseUnknownMedia } from './planning/media-urls.ts';
import { planPost, refuseAccountStates, resolveSelectors, type PostPlan } from './planning/plan.ts';
import { etagOf, presentPost } from './posts.present.ts';
import { readWait, waiting } from './prefer-wait.ts';
import { storedOptions, storedText } from './planning/render.ts';
import type { ResolvedTarget } from './planning/resolve-targets.ts';
import { expectedRevision, refuseStale } from './revision.ts';
import { orRefuse, readWallTime, scheduleOrRefuse, type Schedule } from './planning/schedule.ts';
import { workspaceOfPost } from './planning/workspace-of-post.ts';

/** What each target is made of. The others (`notes`, `catch_up`) leave the targets as they are. */
const PLANNED_FIELDS = ['content', 'media', 'target_options', 'targets', 'scheduled_at', 'timezone'] as const;

/** PATCH /v1/posts/{id}, under the row lock that the start of publishing takes too: whoever commits first wins. */
export async function updatePost(call: Call): Promise<Reply> {
  const { tx, params, caller, body, infra } = call;
  const waitSeconds = readWait(call.headers);
  const expected = expectedRevision(call);
  const state = await lockPost(tx, params.id!);
  assertPost(state, caller);
  const fields = wishedFields(call, state.post);
  refuseUnknownMedia(fields.targetOptions);
  const schedule = scheduleOf(call, state.post, fields.timezone);
  const { targets, workspaceId } = await targetsOf(call, state);
  const isPlanned = PLANNED_FIELDS.some((name) => name in body);
  const plan: PostPlan | null = isPlanned ? planPost({ ...fields, schedule, targets }, { config: infra.config, mode: caller.mode }) : null;
  refuseState(state.post);
  refuseStale(state.post, expected);
  if (isPlanned) refuseAccountStates({ schedule, targets });
  const change: Change = { fields: { ...fields, workspaceId, scheduledAt: schedule.at, wallTime: schedule.wallTime }, schedule, plan, changed: [] };
  change.changed = changedFields(call, state, change);
  const after = change.changed.length === 0 ? state : await applyUpdate(call, state, change);
  const headers = { ETag: etagOf(after.post), 'Oncepost-Warnings': String(plan?.warnings.length ?? 0) };
  const reply = { status: 200, body: presentPost(after), headers, workspaceIds: [after.post.workspaceId ?? null] };
  return waiting(call, { state: after, reply, waitSeconds });
}

function wishedFields({ body }: Call, post: Post): WishedFields {
  const given = <T>(name: string, value: T, stored: T): T => (name in body ? value : stored);
  return {
    content: given('content', typeof body.content === 'string' ? storedText(body.content) : null, post.content ?? null),
    media: given('media', body.media, post.media ?? null),
    targetOptions: given('target_options', storedOptions(body.target_options ?? null), post.targetOptions ?? null),
    timezone: given('timezone', body.timezone ?? 'UTC', post.timezone),
    notes: given('notes', body.notes, post.notes ?? null),
    maxLatenessSeconds: given('catch_up', body.catch_up?.max_lateness_seconds ?? CATCH_UP_LATENESS_DEFAULT_SECONDS, post.maxLatenessSeconds),
    onLate: given('catch_up', body.catch_up?.on_late ?? 'hold', post.onLate),
  };
}

/** The time as given, or the stored wall time in a new zone, or what is stored. A time that is stored is not judged again. */
function scheduleOf({ body, now }: Call, post: Post, timezone: string): Schedule {
  if (typeof body.scheduled_at === 'string') return scheduleOrRefuse(body.scheduled_at, { timezone, now });
  if ('timezone' in body && post.wallTime && post.status === 'scheduled') return orRefuse(readWallTime(post.wallTime, { timezone, now }), 'timezone');
  const isDraft = post.status === 'draft';
  return { kind: isDraft ? 'draft' : 'later', at: post.scheduledAt ?? null, wallTime: post.wallTime ?? null, warnings: [] };
}

async function targetsOf(call: Call, state: PostState): Promise<{ targets: ResolvedTarget[]; workspaceId: string | null }> {
  const { body, caller } = call;
  const { post } = state;
  const stored = post.workspaceId ?? null;
  if (body.targets === undefined) {
    return { targets: state.targets.map((target) => ({ account: state.accounts.get(target.accountId)!, byId: true })), workspaceId: stored };
  }
  const given = post.workspaceGiven ? stored : null;
  const targets = await resolveSelectors(call, body.targets, given);
  const selected = body.targets.filter((one: string) => one.startsWith('ws_'));
  return { targets, workspaceId: workspaceOfPost({ given, accounts: targets.map((one) => one.account), selected, caller }) };
}

function refuseState(post: Post): void {
  if (post.status === 'draft' || post.status === 'scheduled') return;
  if (post.status === 'publishing') {
    throw new ApiError('POST_PUBLISHING', 'The post is being published, so it cannot be changed. Look again when it has ended.', { details: { status: post.status, revision: post.revision } });
  }
  throw new ApiError('INVALID_STATE', `A ${post.status} post cannot be changed here. Retry what failed, or make a new post.`, { details: { status: post.status } });
}

/** Wire names of the fields whose stored value becomes another. Giving what is stored already changes nothing. */
function changedFields({ body }: Call, { post, targets }: PostState, { fields, schedule, plan }: Change): string[] {
  const same: Record<string, boolean> = {
    content: fields.content === (post.content ?? null),
    media: isDeepStrictEqual(fields.media, post.media ?? null),
    target_options: isDeepStrictEqual(fields.targetOptions, post.targetOptions ?? null),
    timezone: fields.timezone === post.timezone,
    notes: fields.notes === (post.notes ?? null),
    catch_up: fields.maxLatenessSeconds === post.maxLatenessSeconds && fields.onLate === post.onLate,
    targets: isDeepStrictEqual(plan?.targets.map(({ account }) => account.id), targets.map((target) => target.accountId)),
    scheduled_at: (schedule.kind === 'draft' || schedule.kind === 'later') && schedule.at?.getTime() === post.scheduledAt?.getTime() && schedule.wallTime === (post.wallTime ?? null) && (schedule.kind === 'draft') === (post.status === 'draft'),
  };
  return Object.keys(same).filter((name) => name in body && !same[name]);
}
