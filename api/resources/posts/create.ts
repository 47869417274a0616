import { CATCH_UP_LATENESS_DEFAULT_SECONDS } from '../../../infra/contract/limits.ts';
import { newId } from '../../../infra/contract/ids.ts';
import { postStatusOf } from '../../../infra/contract/statuses.ts';
import { PostEntity, type Post } from '../../../infra/db/entities/post.entity.ts';
import { writePostEvent, type PostState } from '../../../infra/db/repositories/events.ts';
import { notePost, type Note } from '../../../infra/db/repositories/timeline.ts';
import { takeUnits, usageHeaders } from '../../../infra/db/repositories/usage.ts';
import { add, flush } from '../../../infra/db/rows.ts';
import { refreshPost } from '../../../infra/ledger/post-state.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace } from '../../workspace-access.ts';
import { publishLater, publishNow, type Pace } from './going.ts';
import { refuseUnknownMedia } from './planning/media-urls.ts';
import { newTarget } from './new-target.ts';
import { planPost, refuseAccountStates, resolveSelectors, type PostPlan, type PostWish } from './planning/plan.ts';
import { etagOf, presentPost } from './posts.present.ts';
import { readWait, waiting } from './prefer-wait.ts';
import { storedOptions, storedText } from './planning/render.ts';
import { scheduleOrRefuse, type Schedule } from './planning/schedule.ts';
import { workspaceOfPost } from './planning/workspace-of-post.ts';

const UNITS = 1;

/** POST /v1/posts. Nothing is stored unless every check passes; then everything is, in the request's one transaction. */
export async function createPost(call: Call, pace?: Pace): Promise<Reply> {
  const { body, now, infra, caller } = call;
  const waitSeconds = readWait(call.headers);
  const timezone: string = body.timezone ?? 'UTC';
  const schedule = scheduleOrRefuse(body.scheduled_at, { timezone, now });
  const given: string | null = body.workspace_id ?? null;
  if (given !== null) await assertNamedWorkspace(call, given, 'write');
  const wish = { content: body.content === undefined || body.content === null ? null : storedText(body.content), media: body.media ?? null, targetOptions: storedOptions(body.target_options ?? null), schedule };
  refuseUnknownMedia(wish.targetOptions);
  const targets = await resolveSelectors(call, body.targets, given);
  const workspaceId = workspaceOfPost({ given, accounts: targets.map((one) => one.account), selected: body.targets.filter((one: string) => one.startsWith('ws_')), caller });
  const plan = planPost({ ...wish, targets }, { config: infra.config, mode: caller.mode });
  refuseAccountStates({ schedule, targets });
  const state = await store(call, { wish: { ...wish, targets }, plan, schedule, timezone, workspaceId, ...(pace === undefined ? {} : { pace }) });
  await flush(call.tx);
  const usage = await takeUnits(call.tx, { of: caller, units: UNITS, now });
  const headers = { ...usageHeaders(usage), Location: `/v1/posts/${state.post.id}`, 'Oncepost-Warnings': String(plan.warnings.length) };
  const reply = { status: 201, body: presentPost(state), headers: { ...headers, ETag: etagOf(state.post) }, workspaceIds: [workspaceId] };
  return waiting(call, { state, reply, waitSeconds });
}

interface Accepted {
  wish: PostWish;
  plan: PostPlan;
  schedule: Schedule;
  timezone: string;
  workspaceId: string | null;
  pace?: Pace;
}

async function store(call: Call, accepted: Accepted): Promise<PostState> {
  const { tx, now } = call;
  const { plan, schedule } = accepted;
  const post = newPost(call, accepted);
  const targets = plan.targets.map((planned, position) => newTarget(call, post, { planned, position, isDraft: schedule.kind === 'draft', status: schedule.kind === 'later' ? 'scheduled' : 'draft' }));
  const accounts = new Map(plan.targets.map(({ account }) => [account.id, account]));
  const state: PostState = { post, targets, accounts, operations: new Map() };
  if (schedule.kind === 'later') await publishLater(call, post, targets);
  else if (schedule.kind !== 'draft') await publishNow(call, state, targets, accepted.pace);
  post.status = postStatusOf(targets.map((target) => target.status));
  tellOfCreation(call, state, plan);
  // Where no target could even begin, the post has ended in the moment of its creation.
  if (post.status === 'failed') {
    post.status = 'publishing';
    refreshPost(tx, state, now);
  }
  return state;
}

function tellOfCreation(call: Call, state: PostState, plan: PostPlan): void {
  const { tx, now, caller, requestId } = call;
  const { post } = state;
  const eventId = writePostEvent(tx, 'post.created', state, now);
  const notes: Note[] = [{ type: 'created', message: `The post was created as ${post.status}.`, eventId, actor: caller.actor, requestId, data: { status: post.status } }];
  if (post.status !== 'draft') notes.push({ type: 'rendered', message: 'Texts, options and media of the targets are frozen.', data: { codes: [...new Set(plan.warnings)] } });
  if (post.status === 'scheduled') {
    const scheduled = writePostEvent(tx, 'post.scheduled', state, now);
    notes.push({ type: 'scheduled', message: 'The post waits for its time.', eventId: scheduled, data: { at: post.scheduledAt!.toISOString() } });
  }
  notePost(tx, post, notes, now);
}

function newPost(call: Call, { wish, schedule, timezone, workspaceId }: Accepted): Post {
  const { tx, now, caller, body, requestId } = call;
  return add(tx, PostEntity, {
    id: newId('post'), organizationId: caller.organizationId, mode: caller.mode, workspaceId, workspaceGiven: typeof body.workspace_id === 'string',
    status: 'draft', content: wish.content, textSource: { kind: wish.content === null ? 'none' : 'content', text: wish.content, overrides: null, variables: {} }, skipSignature: false, shortenUrls: false, media: wish.media, targetOptions: wish.targetOptions, timezone,
    scheduledAt: schedule.at, wallTime: schedule.wallTime, publishedAt: null, notes: body.notes ?? null,
    maxLatenessSeconds: body.catch_up?.max_lateness_seconds ?? CATCH_UP_LATENESS_DEFAULT_SECONDS, onLate: body.catch_up?.on_late ?? 'hold', holdReason: null,
    revision: 1, seq: 1, eventSeq: 0, requestId, createdBy: caller.actor, deletedAt: null, createdAt: now, updatedAt: now,
  });
}
