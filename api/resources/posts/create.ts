import { CATCH_UP_LATENESS_DEFAULT_SECONDS } from '../../../infra/contract/limits.ts';
import { newId } from '../../../infra/contract/ids.ts';
import { PostEntity, type FrozenSignature, type Post } from '../../../infra/db/entities/post.entity.ts';
import { writePostEvent, type PostState } from '../../../infra/db/repositories/events.ts';
import { replacePostTags } from '../../../infra/db/repositories/tags.ts';
import { notePost, type Note } from '../../../infra/db/repositories/timeline.ts';
import { takeUnits, usageHeaders } from '../../../infra/db/repositories/usage.ts';
import { add, flush } from '../../../infra/db/rows.ts';
import { tellOpened } from '../../../infra/ledger/open.ts';
import { followTargets, tellChanges } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace } from '../../workspace-access.ts';
import { publishLater, publishNow, type LaterStart } from './going.ts';
import { newTarget } from './new-target.ts';
import { refusing } from './planning/judge.ts';
import { planPost, type PostPlan, type PostWish } from './planning/plan.ts';
import { goesOut, scheduleOrRefuse } from './planning/schedule.ts';
import { wishOfCreation } from './planning/wish.ts';
import { etagOf, presentPost, workspacesShown } from './posts.present.ts';
import { waiting } from './prefer-wait.ts';

export const UNITS_OF_POST = 1;

/** POST /v1/posts. */
export async function createPost(call: Call, start?: LaterStart): Promise<Reply> {
  const { body, now } = call;
  const schedule = scheduleOrRefuse(body.scheduled_at, { timezone: body.timezone ?? 'UTC', now });
  return createWished(call, wishOfCreation(body, schedule), start);
}

/** Nothing is stored unless every check passes; then everything is, in the request's one transaction. */
export async function createWished(call: Call, wish: PostWish, start?: LaterStart): Promise<Reply> {
  const { now, caller } = call;
  if (wish.workspaceGiven !== null) await assertNamedWorkspace(call, wish.workspaceGiven, 'write');
  const plan = await planPost(call, wish, { judge: refusing, lock: true });
  const state = await store(call, plan, start);
  await flush(call.tx);
  const usage = await takeUnits(call.tx, { of: caller, units: UNITS_OF_POST, now });
  const headers = { ...usageHeaders(usage), Location: `/v1/posts/${state.post.id}`, 'Oncepost-Warnings': String(plan.issues.length) };
  const reply = { status: 201, body: presentPost(state, caller), headers: { ...headers, ETag: etagOf(state.post) }, workspaceIds: workspacesShown(state.post, caller), warnings: plan.issues };
  return waiting(call, { state, reply });
}

async function store(call: Call, plan: PostPlan, start: LaterStart | undefined): Promise<PostState> {
  const { tx, now } = call;
  const { schedule } = plan;
  const post = newPost(call, plan);
  const targets = plan.targets.map((planned, position) => newTarget(call, post, { planned, position, isDraft: schedule.kind === 'draft', status: schedule.kind === 'later' ? 'scheduled' : 'draft' }));
  const accounts = new Map(plan.targets.map(({ account }) => [account.id, account]));
  const state: PostState = { post, targets, accounts, operations: new Map(), tags: plan.tags };
  if (plan.tags.length > 0) await replacePostTags(tx, post, plan.tags.map((tag) => tag.id), now);
  if (schedule.kind === 'later') await publishLater(call, post, targets);
  const opened = goesOut(schedule) ? await publishNow(call, state, targets, start) : [];
  followTargets(state, now);
  tellOfCreation(call, state, plan);
  tellOpened(tx, opened, now);
  // Where no target could even begin, the post has ended in the moment of its creation.
  tellChanges(tx, state, { before: 'publishing', now });
  return state;
}

function tellOfCreation(call: Call, state: PostState, plan: PostPlan): void {
  const { tx, now, caller, requestId } = call;
  const { post } = state;
  const eventId = writePostEvent(tx, 'post.created', state, now);
  const notes: Note[] = [{ type: 'created', message: `The post was created as ${post.status}.`, eventId, actor: caller.actor, requestId, data: { status: post.status } }, ...slotNotes(plan)];
  if (post.status !== 'draft') notes.push({ type: 'rendered', message: 'Texts, options and media of the targets are frozen.', data: { codes: codesOf(plan) } });
  if (post.status === 'scheduled') {
    const scheduled = writePostEvent(tx, 'post.scheduled', state, now);
    notes.push({ type: 'scheduled', message: 'The post waits for its time.', eventId: scheduled, data: { at: post.scheduledAt!.toISOString() } });
  }
  notePost(tx, post, notes, now);
}

export function codesOf(plan: PostPlan): string[] {
  return [...new Set(plan.issues.map((issue) => issue.code))];
}

export function slotNotes({ auto, schedule }: PostPlan): Note[] {
  return auto === null ? [] : [{ type: 'slot_chosen', message: 'The best free slot was chosen.', data: { at: schedule.at!.toISOString(), source: auto.source } }];
}

/** A draft has none in its text yet, unless the text came with it. */
export function signatureToStore({ schedule, signature }: PostPlan, skips: boolean): FrozenSignature | null {
  return schedule.kind === 'draft' && !skips ? null : signature;
}

function newPost(call: Call, plan: PostPlan): Post {
  const { tx, now, caller, body, requestId } = call;
  const { schedule, workspaceId, source, content } = plan;
  return add(tx, PostEntity, {
    id: newId('post'), organizationId: caller.organizationId, mode: caller.mode, workspaceId, workspaceGiven: typeof body.workspace_id === 'string',
    status: 'draft', content, textSource: source, templateId: body.template_id ?? null,
    signature: signatureToStore(plan, body.skip_signature ?? false), skipSignature: body.skip_signature ?? false,
    shortenUrls: body.shorten_urls ?? false, autoSchedule: plan.auto,
    media: body.media ?? null, targetOptions: plan.targetOptions, timezone: plan.timezone,
    scheduledAt: schedule.at, wallTime: schedule.wallTime, publishedAt: null, notes: body.notes ?? null,
    maxLatenessSeconds: body.catch_up?.max_lateness_seconds ?? CATCH_UP_LATENESS_DEFAULT_SECONDS, onLate: body.catch_up?.on_late ?? 'hold', holdReason: null,
    revision: 1, seq: 1, eventSeq: 0, requestId, createdBy: caller.actor, deletedAt: null, createdAt: now, updatedAt: now,
  });
}
