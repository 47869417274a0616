import { randomUUID } from 'node:crypto';
import { Caller } from '../support/caller.ts';
import { until } from '../support/until.ts';
import { WAITS } from './before-sending.ts';
import { fresh, inSeconds, type Stage } from './stage.ts';
import type { PostRow, ServiceRow, TargetState } from './table.ts';

/** What brings a target there, and where it then is. */
const WAYS: Record<TargetState, { words: string; ends: string }> = {
  draft: { words: '', ends: 'draft' },
  scheduled: { words: '', ends: 'scheduled' },
  publishing: { words: WAITS, ends: 'publishing' },
  published: { words: '', ends: 'published' },
  failed: { words: '[[sandbox:refuse]]', ends: 'failed CONTENT_REJECTED' },
  unknown: { words: '[[sandbox:drop-after]] [[sandbox:hide-listing]]', ends: 'failed PROVIDER_OUTCOME_UNKNOWN' },
};

/** Drives a post to where its targets are as the row says, and on; gives the row as it was seen. */
export async function drivePost(stage: Stage, row: PostRow): Promise<PostRow> {
  const accounts = [stage.twitter, stage.mastodon, (await stage.system.openAccount({ organizationId: stage.organizationId, platform: 'twitter', ordinal: 2 })).id];
  const scheduledAt = row.targets.includes('draft') ? 'draft' : row.targets.includes('scheduled') ? inSeconds(3_600) : 'now';
  const contents = row.targets.map((target, i) => [accounts[i]!, { content: fresh(WAYS[target].words) }] as const);
  const { id } = await stage.caller.publish({ targets: accounts, scheduled_at: scheduledAt, target_options: Object.fromEntries(contents) });
  await until(`${id} is ${row.targets.join(', ')}`, async () => {
    const post = await stage.post(id);
    return row.targets.every((target, i) => Caller.state(post, accounts[i]!) === WAYS[target].ends);
  });
  const post = await stage.post(id);
  const events = await postEvents(stage, id);
  const seen: PostRow = { targets: row.targets, post: post.status, events };
  if (row.later === undefined) return seen;
  await act(stage, post, row.later.by);
  const after = await until(`${id} is settled`, async () => {
    const post = await stage.post(id);
    return post.status !== 'publishing' && post;
  });
  // What was published first stays the time of the post's publication.
  if (post.published_at !== null && after.published_at !== post.published_at) throw new Error('published_at moved');
  return { ...seen, later: { by: row.later.by, post: after.status, events: (await postEvents(stage, id)).slice(events.length) } };
}

async function act(stage: Stage, post: any, by: NonNullable<PostRow['later']>['by']): Promise<void> {
  if (by === 'retry') return stage.change('post', `/v1/posts/${post.id}/retry`);
  const unknown = Object.keys(post.targets).find((id) => stage.target(post, id).operation_state === 'unknown')!;
  return stage.verdict(await stage.operation(post, unknown), by === 'verdict published' ? 'published' : 'not_published');
}

async function postEvents(stage: Stage, id: string): Promise<string[]> {
  return (await stage.events(id)).filter((event) => event.startsWith('post.'));
}

/** Drives a row of the interface's own table, and gives it as it was seen. */
export async function driveService(stage: Stage, row: ServiceRow): Promise<ServiceRow> {
  const [, request, argument] = /^(create|update|retry|delete)(?: post)?(?:, `?(ISO|draft|now|auto))?/.exec(row.trigger)!;
  if (request === 'create') return create(stage, row, argument!);
  const post = await postIn(stage, row.from);
  const { id } = post;
  const from = row.from === 'removed' ? 'removed' : (await stage.post(id)).status;
  const change = row.condition === 'a new `scheduled_at`' ? { scheduled_at: inSeconds(7_200) } : { content: fresh() };
  const reply = request === 'update' ? await stage.caller.patch(`/v1/posts/${id}`, change) : request === 'retry' ? await stage.caller.post(`/v1/posts/${id}/retry`) : await stage.caller.delete(`/v1/posts/${id}`);
  const after = reply.status === 200 ? reply.body.status : ((await stage.post(id)).status ?? 'removed');
  return { ...row, from, status: reply.status, to: after };
}

async function create(stage: Stage, row: ServiceRow, argument: string): Promise<ServiceRow> {
  const days = row.condition.startsWith('more') ? 30.01 : 29.99;
  const scheduledAt = argument === 'ISO' ? inSeconds(days * 86_400) : argument;
  const text = fresh(WAITS);
  const reply = await stage.caller.post('/v1/posts', { targets: [stage.twitter], content: text, scheduled_at: scheduledAt }, { 'idempotency-key': randomUUID() });
  const stored = (await stage.caller.get(`/v1/posts?q=${encodeURIComponent(text.split(' ')[1]!)}`)).body.data;
  return { ...row, status: reply.status, to: stored.length === 0 ? '(none)' : reply.body.status };
}

async function postIn(stage: Stage, status: string): Promise<any> {
  switch (status) {
    case 'draft': return stage.create('draft');
    case 'scheduled': return stage.create(inSeconds(3_600));
    case 'publishing': return stage.create('now', WAITS);
    case 'failed': return stage.reached((await stage.create('now', '[[sandbox:refuse]]')).id, 'failed CONTENT_REJECTED');
    case 'removed': {
      const post = await stage.create('draft');
      await stage.change('delete', `/v1/posts/${post.id}`);
      return post;
    }
    default: return stage.reached((await stage.create('now')).id, 'published');
  }
}
