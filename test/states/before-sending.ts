import { expect } from '@jest/globals';
import { Caller } from '../support/caller.ts';
import { until } from '../support/until.ts';
import { fresh, inSeconds, type Stage, type Told } from './stage.ts';

export type Story = (stage: Stage) => Promise<Told>;

/** Keeps a target publishing with nothing sent, for as long as a test may look at it. */
export const WAITS = '[[sandbox:rate-limit-always=600]]';

const LATER = () => inSeconds(3_600);

/** Stories of targets that nothing was sent for yet, by `from | trigger | condition` of the table. */
export const BEFORE_SENDING: Record<string, Story> = {
  '– | create | draft': async (stage) => {
    const post = await stage.create('draft');
    expect([post.scheduled_at, stage.target(post).operation_id, stage.target(post).attempt]).toEqual([null, null, 0]);
    return stage.told('–', Caller.state(post, stage.twitter), post.id);
  },
  '– | duplicate | draft': async (stage) => {
    const source = await stage.create('draft');
    const copy = await stage.change('post', `/v1/posts/${source.id}/duplicate`);
    expect([copy.id === source.id, copy.content]).toEqual([false, source.content]);
    return stage.told('–', Caller.state(copy, stage.twitter), copy.id);
  },
  '– | create | future ISO': async (stage) => {
    const post = await stage.create(LATER());
    await waitsInTemporal(stage, `post/${post.id}/1`);
    return stage.told('–', Caller.state(post, stage.twitter), post.id);
  },
  '– | create | auto': async (stage) => {
    const post = await stage.create('auto');
    expect([typeof post.auto_schedule, Date.parse(post.scheduled_at) > Date.now()]).toEqual(['object', true]);
    await waitsInTemporal(stage, `post/${post.id}/1`);
    return stage.told('–', Caller.state(post, stage.twitter), post.id);
  },
  '– | create | now': async (stage) => {
    const post = await stage.create('now', WAITS);
    expect([stage.target(post).attempt, stage.target(post).operation_state]).toEqual([1, 'pending']);
    return stage.told('–', Caller.state(post, stage.twitter), post.id);
  },
  '– | create | due ISO': async (stage) => {
    const due = inSeconds(-60);
    const post = await stage.create(due, WAITS);
    expect([stage.target(post).operation_state, post.scheduled_at]).toEqual(['pending', due]);
    return stage.told('–', Caller.state(post, stage.twitter), post.id);
  },
  'draft | PATCH removes it | ': (stage) => removedByPatch(stage, 'draft'),
  'scheduled | PATCH removes it | ': (stage) => removedByPatch(stage, LATER()),
  'draft | PATCH scheduled_at | later': (stage) => patched(stage, 'draft', { scheduled_at: LATER() }),
  'draft | PATCH scheduled_at | now': async (stage) => {
    const told = await patched(stage, 'draft', { scheduled_at: 'now' }, WAITS);
    return told;
  },
  'scheduled | PATCH scheduled_at | draft': (stage) => patched(stage, LATER(), { scheduled_at: 'draft' }),
  'scheduled | cancel | not begun': async (stage) => {
    const post = await stage.create(LATER());
    await waitsInTemporal(stage, `post/${post.id}/1`);
    const cancelled = await stage.change('post', `/v1/posts/${post.id}/cancel`);
    expect([cancelled.scheduled_at, cancelled.revision]).toEqual([null, 2]);
    await isCancelled(stage, `post/${post.id}/1`);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(cancelled, stage.twitter), post.id);
  },
  'scheduled | PATCH content | not begun': (stage) => patched(stage, LATER(), { content: fresh('changed') }),
  'scheduled | PATCH scheduled_at | later': (stage) => patched(stage, LATER(), { scheduled_at: inSeconds(7_200) }),
  'scheduled | PATCH scheduled_at | now': (stage) => patched(stage, LATER(), { scheduled_at: 'now' }, WAITS),
  'scheduled | due time reached | within catch-up': async (stage) => {
    const post = await stage.create(inSeconds(2), WAITS);
    const begun = await stage.waiting(post.id, 'provider_wait');
    expect([stage.target(begun).attempt, stage.target(begun).operation_state]).toEqual([1, 'pending']);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(begun, stage.twitter), post.id);
  },
  'draft | DELETE | ': async (stage) => deleted(stage, await stage.create('draft')),
  'scheduled | DELETE | ': async (stage) => {
    const post = await stage.create(LATER());
    await waitsInTemporal(stage, `post/${post.id}/1`);
    const told = await deleted(stage, post);
    await isCancelled(stage, `post/${post.id}/1`);
    return told;
  },
};

/** Told while the worker stands still: the due time passes, and it is too late when the worker goes on. */
export const TOO_LATE: Record<string, (stage: Stage) => Promise<Story>> = {
  'scheduled | due, too late | publish': (stage) => missed(stage, 'publish', async (post) => {
    const begun = await stage.waiting(post.id, 'provider_wait');
    return Caller.state(begun, stage.twitter);
  }),
  'scheduled | due, too late | skip': (stage) => missed(stage, 'skip', async (post) => {
    const skipped = await stage.reached(post.id, 'failed SCHEDULE_MISSED');
    expect([skipped.status, skipped.targets[stage.twitter].error.retryable, await stage.publications(post.id)]).toEqual(['failed', true, 0]);
    return Caller.state(skipped, stage.twitter);
  }),
  'scheduled | due, too late | hold': (stage) => missed(stage, 'hold', async (post) => {
    const held = await stage.reached(post.id, 'draft');
    expect([held.status, held.hold_reason, held.scheduled_at, await stage.publications(post.id)]).toEqual(['draft', 'late', null, 0]);
    return Caller.state(held, stage.twitter);
  }),
};

async function missed(stage: Stage, onLate: string, end: (post: any) => Promise<string>): Promise<Story> {
  const post = await stage.create(inSeconds(1), WAITS, { catch_up: { max_lateness_seconds: 0, on_late: onLate } });
  await until('the due time is past', async () => Date.now() > Date.parse(post.scheduled_at) + 1_500);
  return async () => {
    const to = await end(post);
    return stage.told(Caller.state(post, stage.twitter), to, post.id);
  };
}

/** Whether a change ends in a new generation is told by its workflow: the old one ends without effect, the new one waits. */
async function patched(stage: Stage, scheduledAt: string, change: Record<string, unknown>, words = ''): Promise<Told> {
  const post = await stage.create(scheduledAt, words);
  const wasScheduled = post.status === 'scheduled';
  if (wasScheduled) await waitsInTemporal(stage, `post/${post.id}/1`);
  const after = await stage.change('patch', `/v1/posts/${post.id}`, change);
  expect(after.revision).toBe(2);
  if (wasScheduled) await isCancelled(stage, `post/${post.id}/1`);
  if (after.status === 'scheduled') await waitsInTemporal(stage, `post/${post.id}/2`);
  if (after.status === 'publishing') expect([stage.target(after).attempt, stage.target(after).operation_state]).toEqual([1, 'pending']);
  return stage.told(Caller.state(post, stage.twitter), Caller.state(after, stage.twitter), post.id);
}

async function removedByPatch(stage: Stage, scheduledAt: string): Promise<Told> {
  const post = await stage.create(scheduledAt, '', { targets: [stage.twitter, stage.mastodon] });
  const after = await stage.change('patch', `/v1/posts/${post.id}`, { targets: [stage.mastodon] });
  expect([Object.keys(after.targets), after.targets[stage.mastodon].status]).toEqual([[stage.mastodon], post.status]);
  expect(await stage.isTargetThere(stage.target(post).target_id)).toBe(false);
  return stage.told(Caller.state(post, stage.twitter), 'removed', post.id);
}

/** Gone for every route, and gone a second time. */
export async function deleted(stage: Stage, post: any): Promise<Told> {
  const from = await stage.state(post.id);
  expect((await stage.caller.delete(`/v1/posts/${post.id}`)).status).toBe(204);
  const again = await stage.caller.delete(`/v1/posts/${post.id}`);
  const read = await stage.caller.get(`/v1/posts/${post.id}`);
  expect([again.status, read.status, read.body.error.code]).toEqual([404, 404, 'POST_NOT_FOUND']);
  return stage.told(from, 'removed', post.id);
}

async function statusInTemporal(stage: Stage, workflowId: string): Promise<string | null> {
  return stage.system.client.workflow.getHandle(workflowId).describe().then(({ status }) => status.name, () => null);
}

async function waitsInTemporal(stage: Stage, workflowId: string): Promise<void> {
  await until(`${workflowId} waits in Temporal`, async () => (await statusInTemporal(stage, workflowId)) === 'RUNNING');
}

async function isCancelled(stage: Stage, workflowId: string): Promise<void> {
  await until(`${workflowId} is cancelled`, async () => (await statusInTemporal(stage, workflowId)) === 'CANCELLED');
}
