import type { Post } from '../../../infra/db/entities/post.entity.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import { writePostEvent, type PostState } from '../../../infra/db/repositories/events.ts';
import { cancelPublishPost } from '../../../infra/db/repositories/outbox.ts';
import { notePost, type Note } from '../../../infra/db/repositories/timeline.ts';
import { refreshPost } from '../../../infra/ledger/post-state.ts';
import type { Call } from '../../route.ts';
import { publishLater, publishNow } from './going.ts';
import { newTarget } from './new-target.ts';
import type { PostPlan } from './planning/plan.ts';
import type { Schedule } from './planning/schedule.ts';

/** The fields of the row that a change may touch, with their new values. */
export type WishedFields = Pick<Post, 'timezone' | 'maxLatenessSeconds' | 'onLate'> & {
  content: string | null;
  media: NonNullable<Post['media']> | null;
  targetOptions: NonNullable<Post['targetOptions']> | null;
  notes: string | null;
};

export interface Change {
  fields: WishedFields & Pick<Post, 'workspaceId' | 'scheduledAt' | 'wallTime'>;
  schedule: Schedule;
  /** null: the targets stay as they are. */
  plan: PostPlan | null;
  /** Wire names. */
  changed: string[];
}

/** Writes an accepted change: a new revision, and a new workflow where the post waits for its time or goes out. */
export async function applyUpdate(call: Call, before: PostState, change: Change): Promise<PostState> {
  const { tx, now } = call;
  const { post } = before;
  const { schedule } = change;
  const was = { status: post.status, scheduledAt: post.scheduledAt?.getTime(), seq: post.seq };
  Object.assign(post, change.fields, { revision: post.revision + 1, updatedAt: now });
  if (schedule.kind !== 'draft') post.holdReason = null;
  const state = change.plan === null ? before : await retarget(call, before, change);
  if (was.status === 'scheduled' || schedule.kind !== 'draft') post.seq += 1;
  if (was.status === 'scheduled') await cancelPublishPost(tx, post, was.seq, now);
  if (schedule.kind === 'later') await publishLater(call, post, state.targets);
  else if (schedule.kind !== 'draft') await publishNow(call, state, state.targets);
  tell(call, { state, change, was });
  return state;
}

/** The set of targets as planned: who stays keeps its row, with texts, options and media as they are now. */
async function retarget(call: Call, before: PostState, { schedule, plan }: Change): Promise<PostState> {
  const { tx, now } = call;
  const isDraft = schedule.kind === 'draft';
  const status = schedule.kind === 'later' ? 'scheduled' : 'draft';
  const kept = new Map(before.targets.map((target) => [target.accountId, target]));
  const targets: Target[] = plan!.targets.map((planned, position) => {
    const target = kept.get(planned.account.id);
    if (target === undefined) return newTarget(call, before.post, { planned, position, isDraft, status });
    kept.delete(planned.account.id);
    const frozen = isDraft ? { text: null, options: {}, media: [] } : { text: planned.text, options: { ...planned.options }, media: planned.media };
    return Object.assign(target, { position, ...frozen, updatedAt: now }, schedule.kind === 'now' || schedule.kind === 'due' ? {} : { status });
  });
  if (kept.size > 0) await tx.execute('delete from target where id in (?)', [[...kept.values()].map((target) => target.id)]);
  return { ...before, targets, accounts: new Map(plan!.targets.map(({ account }) => [account.id, account])) };
}

function tell(call: Call, { state, change, was }: { state: PostState; change: Change; was: { status: string; scheduledAt: number | undefined } }): void {
  const { tx, now, caller, requestId } = call;
  const { post } = state;
  const ended = refreshPost(tx, state, now);
  const eventId = writePostEvent(tx, 'post.updated', state, now, { changed: change.changed });
  const notes: Note[] = [{ type: 'updated', message: `Changed: ${change.changed.join(', ')}.`, eventId, actor: caller.actor, requestId, data: { fields: change.changed, revision: post.revision } }];
  if (change.plan !== null && change.schedule.kind !== 'draft') notes.push({ type: 'rendered', message: 'Texts, options and media of the targets are frozen anew.', data: { codes: [...new Set(change.plan.warnings)] } });
  if (post.status === 'scheduled' && ended === null && (was.status !== 'scheduled' || was.scheduledAt !== post.scheduledAt?.getTime())) {
    const scheduled = writePostEvent(tx, 'post.scheduled', state, now);
    notes.push({ type: 'scheduled', message: 'The post waits for its time.', eventId: scheduled, data: { at: post.scheduledAt!.toISOString() } });
  }
  notePost(tx, post, notes, now);
}
