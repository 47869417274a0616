import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { time } from './time.ts';
import { backToDraft, cancelPending, isTooLate, open, refresh, settle, WORDS, type OnLate, type Operation, type Post, type Target, type Word } from './model.ts';
import type { Run } from './run.ts';

/*
 * What callers ask for, in the model and at the front door, and what either answers (decisions-posts.md 12.15 to 12.17,
 * decisions-operations.md 23.8).
 */
export interface TargetWish {
  account: number;
  word: Word;
  hides: boolean;
}

/** `late` is a time that lies behind already, by less than is refused. */
export type When = 'draft' | 'now' | 'late' | number;

export interface PostWish {
  when: When;
  targets: readonly TargetWish[];
  onLate: OnLate;
  maxLatenessSeconds: number;
  twice: boolean;
}

const iso = (ms: number) => new Date(ms).toISOString();
const LATE_MS = 200_000;

function instantOf(when: When): number | null {
  if (when === 'draft') return null;
  if (when === 'now') return time.now();
  return when === 'late' ? time.now() - LATE_MS : time.now() + when * 1_000;
}

const wireTime = (when: When): string => (when === 'draft' || when === 'now' ? when : iso(instantOf(when)!));

function targetOf(run: Run, post: Post, wish: TargetWish): Target {
  const account = run.world.accounts[wish.account]!;
  const text = ['text', randomUUID(), WORDS[wish.word], ...(wish.hides ? ['[[sandbox:hide-listing]]'] : [])].join(' ').trim();
  return { account, post, status: 'draft', code: null, attempt: 0, text, word: wish.word, hides: wish.hides, waitingUntil: 0, operation: null };
}

const options = (targets: readonly Target[]) => Object.fromEntries(targets.map((target) => [target.account.id, { content: target.text }]));
const accountIds = (targets: readonly Target[]) => targets.map((target) => target.account.id);

/** Where targets go when their post is given a time. */
function schedule(run: Run, post: Post, when: When): void {
  post.scheduledAt = instantOf(when);
  if (when === 'draft') for (const target of post.targets) target.status = 'draft';
  else if (typeof when === 'number') for (const target of post.targets) target.status = 'scheduled';
  else for (const target of post.targets) open(run.world, target, { person: true, now: time.now() });
}

export async function create(run: Run, wish: PostWish): Promise<void> {
  const post: Post = {
    id: '', targets: [], scheduledAt: null, onLate: wish.onLate, maxLatenessMs: wish.maxLatenessSeconds * 1_000, revision: 1, seq: 1, holdReason: null, publishedAt: null, isDeleted: false, status: 'draft', events: ['post.created'],
  };
  const distinct = [...new Map(wish.targets.map((one) => [one.account, one])).values()];
  post.targets = distinct.map((one) => targetOf(run, post, one));
  const body = {
    targets: accountIds(post.targets), scheduled_at: wireTime(wish.when), target_options: options(post.targets), catch_up: { max_lateness_seconds: wish.maxLatenessSeconds, on_late: wish.onLate },
  };
  const key = { 'idempotency-key': randomUUID() };
  const reply = await run.caller.post('/v1/posts', body, key);
  expect([reply.status, reply.body]).toEqual([201, expect.objectContaining({ id: expect.any(String) })]);
  if (wish.twice) expect((await run.caller.post('/v1/posts', body, key)).body).toEqual(reply.body);
  post.id = reply.body.id;
  run.world.posts.push(post);
  schedule(run, post, wish.when);
  post.status = reply.body.status;
  if (post.status === 'scheduled') post.events.push('post.scheduled');
  run.learn(post, reply.body);
  run.compare(post, reply.body);
}

export type Patch = { kind: 'nothing' } | { kind: 'notes' } | { kind: 'stale' } | { kind: 'texts'; word: Word } | { kind: 'time'; when: When } | { kind: 'targets'; targets: readonly TargetWish[] };

export async function patch(run: Run, post: Post, change: Patch): Promise<void> {
  const { targets, body } = patched(run, post, change);
  const reply = await run.caller.patch(`/v1/posts/${post.id}`, body);
  const refusal = refusalOf(post) ?? (post.status === 'publishing' ? [409, 'POST_PUBLISHING'] : post.status !== 'draft' && post.status !== 'scheduled' ? [409, 'INVALID_STATE'] : change.kind === 'stale' ? [409, 'REVISION_CONFLICT'] : null);
  if (refusal !== null) return expectRefused(reply, refusal);
  expect([reply.status, reply.body.id]).toEqual([200, post.id]);
  const before = { status: post.status, scheduledAt: post.scheduledAt };
  const isSame = change.kind === 'nothing' || (change.kind === 'time' && (change.when === 'draft' || typeof change.when === 'number') && before.status === (change.when === 'draft' ? 'draft' : 'scheduled') && before.scheduledAt === instantOf(change.when));
  if (!isSame) {
    post.revision += 1;
    post.targets = targets;
    for (const target of targets) target.status = before.status as Target['status'];
    if (before.status === 'scheduled' || (change.kind === 'time' && change.when !== 'draft')) post.seq += 1;
    if (change.kind === 'time') schedule(run, post, change.when);
    // A draft that is changed stays held; one that is given a time is held no longer.
    if (post.targets[0]!.status !== 'draft') post.holdReason = null;
    refresh(post);
    post.events.push('post.updated');
    if (post.status === 'scheduled' && (before.status !== 'scheduled' || before.scheduledAt !== post.scheduledAt)) post.events.push('post.scheduled');
  }
  run.learn(post, reply.body);
  run.compare(post, reply.body);
}

function patched(run: Run, post: Post, change: Patch): { targets: Target[]; body: Record<string, unknown> } {
  switch (change.kind) {
    case 'nothing': return { targets: post.targets, body: {} };
    case 'notes': return { targets: post.targets, body: { notes: randomUUID() } };
    case 'stale': return { targets: post.targets, body: { notes: randomUUID(), expected_revision: post.revision + 1 } };
    case 'time': return { targets: post.targets, body: { scheduled_at: wireTime(change.when) } };
    case 'texts': {
      const targets = post.targets.map((target) => ({ ...target, ...fresh(run, target, change.word) }));
      return { targets, body: { target_options: options(targets) } };
    }
    case 'targets': {
      const distinct = [...new Map(change.targets.map((one) => [one.account, one])).values()];
      const kept = new Map(post.targets.map((target) => [target.account, target]));
      const targets = distinct.map((one) => ({ ...targetOf(run, post, one), attempt: kept.get(run.world.accounts[one.account]!)?.attempt ?? 0, operation: kept.get(run.world.accounts[one.account]!)?.operation ?? null }));
      return { targets, body: { targets: accountIds(targets), target_options: options(targets) } };
    }
  }
}

function fresh(run: Run, { account, post }: Target, word: Word): Pick<Target, 'text' | 'word' | 'hides'> {
  const { text, hides } = targetOf(run, post, { account: run.world.accounts.indexOf(account), word, hides: false });
  return { text, word, hides };
}

export async function retry(run: Run, post: Post, named: readonly number[] | null): Promise<void> {
  const chosen = named === null ? post.targets : [...new Set(named.map((i) => post.targets[i % post.targets.length]!))];
  const reply = await run.caller.post(`/v1/posts/${post.id}/retry`, named === null ? undefined : { targets: accountIds(chosen) });
  const refusal = refusalOf(post) ?? retryRefusal(post, chosen, named !== null);
  if (refusal !== null) return expectRefused(reply, refusal);
  expect(reply.status).toBe(200);
  post.seq += 1;
  for (const target of chosen) if (target.status === 'failed' && target.operation?.status !== 'unknown') open(run.world, target, { person: true, now: time.now() });
  refresh(post);
  run.learn(post, reply.body);
  run.compare(post, reply.body);
}

function retryRefusal(post: Post, chosen: readonly Target[], areNamed: boolean): [number, string] | null {
  if (post.status === 'publishing') return [409, 'POST_PUBLISHING'];
  const failed = chosen.filter((target) => target.status === 'failed');
  const unknown = failed.filter((target) => target.operation?.status === 'unknown');
  if (failed.length === 0 || (areNamed && failed.length < chosen.length)) return [409, 'INVALID_STATE'];
  if (unknown.length === failed.length || (areNamed && unknown.length > 0)) return [409, 'PROVIDER_OUTCOME_UNKNOWN'];
  return null;
}

export async function cancel(run: Run, post: Post): Promise<void> {
  const reply = await run.caller.post(`/v1/posts/${post.id}/cancel`);
  const refusal = refusalOf(post) ?? (['draft', 'scheduled', 'publishing'].includes(post.status) ? null : [409, 'INVALID_STATE']);
  if (refusal !== null) return expectRefused(reply, refusal as [number, string]);
  expect(reply.status).toBe(200);
  if (post.status === 'scheduled') {
    backToDraft(post);
    post.revision += 1;
    post.seq += 1;
    post.events.push('post.updated');
  } else if (post.status === 'publishing') {
    cancelPending(run.world, post);
    refresh(post);
  }
  run.compare(post, reply.body);
}

export async function remove(run: Run, post: Post): Promise<void> {
  const reply = await run.caller.delete(`/v1/posts/${post.id}`);
  const refusal = refusalOf(post);
  if (refusal !== null) return expectRefused(reply, refusal);
  expect([reply.status, reply.body]).toEqual([204, null]);
  if (post.status === 'draft' || post.status === 'scheduled') post.seq += 1;
  post.isDeleted = true;
  if (post.status === 'publishing') cancelPending(run.world, post);
  refresh(post);
  post.events.push('post.deleted');
}

export async function verdict(run: Run, operation: Operation, given: { happened: boolean; isStale: boolean; again: boolean }): Promise<void> {
  const happened = given.again && operation.verdict !== null ? operation.verdict.happened : given.happened;
  const platformPostId = !happened ? null : given.again && operation.verdict !== null ? operation.verdict.platformPostId : `${Math.floor(Math.random() * 1e15)}`;
  const body = { outcome: happened ? 'published' : 'not_published', reason: 'a person looked', expected_revision: operation.revision + (given.isStale ? 1 : 0), ...(platformPostId === null ? {} : { platform_post_id: platformPostId }) };
  const reply = await run.caller.post(`/v1/operations/${operation.id}/verdict`, body);
  const refusal = verdictRefusal(operation, { happened, platformPostId, isStale: given.isStale });
  if (refusal !== null) return expectRefused(reply, refusal);
  expect([reply.status, reply.body.id]).toEqual([200, operation.id]);
  if (operation.status === 'unknown') {
    settle(operation, 'verdict', happened ? { kind: 'succeeded', result: platformPostId! } : { kind: 'failed', code: 'VERDICT_DID_NOT_HAPPEN' }, { now: time.now() });
    operation.verdict = { happened, platformPostId };
    if (!happened) Object.assign(operation, { wasDenied: true, nextProbeAt: time.now() + 3_600_000 });
  }
  expect([reply.body.status, reply.body.revision, reply.body.settled_by]).toEqual([operation.status, operation.revision, operation.settledBy]);
}

function verdictRefusal(operation: Operation, { happened, platformPostId, isStale }: { happened: boolean; platformPostId: string | null; isStale: boolean }): [number, string] | null {
  const { status, settledBy, verdict, result } = operation;
  if (status === 'pending' || status === 'sending') return [409, 'OPERATION_NOT_UNKNOWN'];
  if (status === 'unknown') return isStale ? [409, 'VERDICT_CONFLICT'] : null;
  const agrees = settledBy === 'verdict' && verdict !== null
    ? verdict.happened === happened && verdict.platformPostId === platformPostId
    : happened === (status === 'succeeded') && (platformPostId === null || platformPostId === result);
  return agrees ? null : [409, 'VERDICT_CONFLICT'];
}

/** The workflow of a generation wakes, in time or not, and whether it is still the current one or not. */
export async function begin(run: Run, post: Post, seq: number): Promise<void> {
  const begun = await run.system.begin(post.id, seq);
  const now = time.now();
  if (post.isDeleted || seq !== post.seq || (post.status !== 'scheduled' && post.status !== 'publishing')) return expect(begun.kind).toBe('superseded');
  if (post.status === 'publishing') return expect(begun.kind).toBe('begun');
  if (post.scheduledAt! > now) return expect(begun).toEqual({ kind: 'early', untilMs: post.scheduledAt });
  if (!isTooLate(post, post.scheduledAt, now)) {
    expect(begun.kind).toBe('begun');
    for (const target of post.targets) open(run.world, target, { person: false, now });
    refresh(post);
  } else if (post.onLate === 'skip') {
    expect(begun).toEqual({ kind: 'ended', outcome: 'skipped' });
    for (const target of post.targets) Object.assign(target, { status: 'failed', code: 'SCHEDULE_MISSED' });
    refresh(post);
  } else {
    expect(begun).toEqual({ kind: 'ended', outcome: 'held' });
    backToDraft(post);
    post.holdReason = 'late';
    post.events.push('post.held');
  }
  run.learn(post, await run.read(post));
}

function refusalOf(post: Post): [number, string] | null {
  return post.isDeleted ? [404, 'POST_NOT_FOUND'] : null;
}

function expectRefused(reply: { status: number; body: any }, refusal: readonly (number | string)[]): void {
  expect([reply.status, reply.body?.error?.code]).toEqual(refusal);
}
