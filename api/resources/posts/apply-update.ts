import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import type { Post } from '../../../infra/db/entities/post.entity.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import { writePostEvent, type PostState } from '../../../infra/db/repositories/events.ts';
import { cancelPublishPost } from '../../../infra/db/repositories/outbox.ts';
import { replacePostTags } from '../../../infra/db/repositories/tags.ts';
import { notePost, type Note } from '../../../infra/db/repositories/timeline.ts';
import { tellOpened } from '../../../infra/ledger/open.ts';
import { followTargets, tellChanges } from '../../../infra/ledger/post-state.ts';
import type { Call } from '../../route.ts';
import type { Wished } from './changes.ts';
import { codesOf, slotNotes } from './create.ts';
import { publishLater, publishNow } from './going.ts';
import { newTarget } from './new-target.ts';
import type { PostPlan } from './planning/plan.ts';
import { goesOut } from './planning/schedule.ts';

export interface Change extends Wished {
  /** Wire names. */
  changed: string[];
}

interface Was {
  status: Post['status'];
  scheduledAt: number | undefined;
  seq: number;
}

/** Writes an accepted change: a new revision, and a new workflow where the post waits for its time or goes out. */
export async function applyUpdate(call: Call, before: PostState, change: Change): Promise<PostState> {
  const { tx, now } = call;
  const { post } = before;
  const { row, plan, changed, tags } = change;
  const was: Was = { status: post.status, scheduledAt: post.scheduledAt?.getTime(), seq: post.seq };
  Object.assign(post, row, { revision: post.revision + 1, updatedAt: now });
  if (changed.includes('tag_ids')) await replacePostTags(tx, post, tags.map((tag) => tag.id), now);
  const kind = plan?.schedule.kind ?? (was.status === 'draft' ? 'draft' : 'later');
  if (kind !== 'draft') post.holdReason = null;
  const state: PostState = { ...(plan === null ? before : await retarget(call, before, plan)), tags };
  if (was.status === 'scheduled' || kind !== 'draft') post.seq += 1;
  if (kind === 'later') await publishLater(call, post, state.targets);
  const opened = goesOut({ kind }) ? await publishNow(call, state, state.targets) : [];
  await tell(call, { state, change, was, opened });
  return state;
}

/** The set of targets as planned: who stays keeps its row, with texts, options and media as they are now. */
async function retarget(call: Call, before: PostState, { schedule, targets: plannedTargets }: PostPlan): Promise<PostState> {
  const { tx, now } = call;
  const isDraft = schedule.kind === 'draft';
  const status = schedule.kind === 'later' ? 'scheduled' : 'draft';
  const kept = new Map(before.targets.map((target) => [target.accountId, target]));
  const targets: Target[] = plannedTargets.map((planned, position) => {
    const target = kept.get(planned.account.id);
    if (target === undefined) return newTarget(call, before.post, { planned, position, isDraft, status });
    kept.delete(planned.account.id);
    const frozen = isDraft ? { text: null, options: {}, media: [] } : { text: planned.text, options: { ...planned.options }, media: planned.media };
    return Object.assign(target, { byId: planned.byId, position, ...frozen, fingerprint: planned.fingerprint, updatedAt: now }, goesOut(schedule) ? {} : { status });
  });
  if (kept.size > 0) await tx.execute('delete from target where id in (?)', [[...kept.values()].map((target) => target.id)]);
  return { ...before, targets, accounts: new Map(plannedTargets.map(({ account }) => [account.id, account])) };
}

/** Every cause before what follows from it. */
async function tell(call: Call, { state, change, was, opened }: { state: PostState; change: Change; was: Was; opened: readonly Operation[] }): Promise<void> {
  const { tx, now, caller, requestId } = call;
  const { post } = state;
  const { changed } = change;
  const before = followTargets(state, now);
  const eventId = writePostEvent(tx, 'post.updated', state, now, { changed });
  notePost(tx, post, [{ type: 'updated', message: `Changed: ${changed.join(', ')}.`, eventId, actor: caller.actor, requestId, data: { fields: changed, revision: post.revision } }], now);
  if (was.status === 'scheduled') await cancelPublishPost(tx, post, was.seq, now);
  tellOfPlan(call, { state, plan: change.plan, was });
  tellOpened(tx, opened, now);
  tellChanges(tx, state, { before, now });
}

function tellOfPlan({ tx, now }: Call, { state, plan, was }: { state: PostState; plan: PostPlan | null; was: Was }): void {
  const { post } = state;
  const isTimeNew = was.scheduledAt !== post.scheduledAt?.getTime();
  const notes: Note[] = [];
  if (plan !== null && plan.schedule.kind !== 'draft') notes.push(...(isTimeNew ? slotNotes(plan) : []), { type: 'rendered', message: 'Texts, options and media of the targets are frozen anew.', data: { codes: codesOf(plan) } });
  if (post.status === 'scheduled' && (was.status !== 'scheduled' || isTimeNew)) {
    const eventId = writePostEvent(tx, 'post.scheduled', state, now);
    notes.push({ type: 'scheduled', message: 'The post waits for its time.', eventId, data: { at: post.scheduledAt!.toISOString() } });
  }
  notePost(tx, post, notes, now);
}
