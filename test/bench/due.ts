import { setTimeout as pause } from 'node:timers/promises';
import { OperationEntity } from '../../infra/db/entities/operation.entity.ts';
import { OutboxEntity } from '../../infra/db/entities/outbox.entity.ts';
import { PostEntity } from '../../infra/db/entities/post.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { Caller } from '../support/caller.ts';
import { until } from '../support/until.ts';
import { cpuMsPer } from './processes.ts';
import type { Setting } from './setting.ts';
import { atOnce, quantile } from './stats.ts';

export interface DueAtOnce {
  posts: number;
  went_out: number;
  /** Of all posts, the lone ones too: how often each is in the sandbox's ledger. */
  once: number;
  posts_per_second: number;
  lateness_seconds: { p50: number; p99: number; max: number };
  /** Of other organizations' only posts, by how many milliseconds they were due after the crowd. */
  lone_lateness_seconds: Record<string, number>;
  cpu_ms_per_post: Record<string, number>;
}

const CREATED_PER_SECOND = 50;
const CALM_MS = 10_000;
const LONE_AFTER_MS = [0, 300, 900];
const ALL_WITHIN_MS = 1_800_000;
const LOOK_AGAIN_MS = 2_000;

/** Posts of one organization that are due in the same second as one post each of three others. */
export async function postsDueAtOnce(setting: Setting, posts: number, say: (text: string) => void): Promise<DueAtOnce> {
  const { system, tenant, caller, processes } = setting;
  const lone = await Promise.all(LONE_AFTER_MS.map(async (afterMs) => ({ afterMs, tenant: await system.tenant() })));
  const dueMs = Math.ceil((Date.now() + CALM_MS + (posts / CREATED_PER_SECOND) * 1000) / 1000) * 1000;
  const startedAt = performance.now();
  const crowd = await atOnce(Array.from({ length: posts }, (_, n) => n), 20, (n) => later(caller, tenant.accounts.twitter!.id, dueMs, `one of a crowd ${n}`));
  // The last to be accepted, so that nothing but fairness helps them.
  const singles = await atOnce(lone, 1, async ({ afterMs, tenant: owner }) => ({ afterMs, id: await later(new Caller(system.baseUrl, owner.testKey), owner.accounts.twitter!.id, dueMs + afterMs, `alone ${afterMs}`), owner }));
  say(`${posts} posts accepted in ${((performance.now() - startedAt) / 1000).toFixed(0)} s; they are due in ${((dueMs - Date.now()) / 1000).toFixed(0)} s`);
  if (dueMs < Date.now()) throw new Error('they were due before all were accepted');
  await until('Temporal knows of every post', async () => (await inScope(system.db, SYSTEM, (tx) => tx.count(OutboxEntity))) === 0, dueMs - Date.now());
  await pause(Math.max(0, dueMs - Date.now()));
  const before = processes.cpu();
  await allEnded(setting, say);
  const after = processes.cpu();
  const operations = await inScope(system.db, SYSTEM, (tx) => tx.find(OperationEntity, { status: 'succeeded' }));
  const sent = new Map(operations.map((one) => [one.postId!, one.sentAt!.getTime()]));
  const lateness = crowd.flatMap((id) => (sent.has(id) ? [(sent.get(id)! - dueMs) / 1000] : []));
  const max = Math.max(...lateness);
  const counts = new Map<string, number>();
  for (const client of [caller, ...singles.map(({ owner }) => new Caller(system.baseUrl, owner.testKey))]) for (const id of await publishedPosts(client)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return {
    posts: posts + singles.length, went_out: sent.size, once: [...crowd, ...singles.map((one) => one.id)].filter((id) => counts.get(id) === 1).length,
    posts_per_second: tenth(posts / max), lateness_seconds: { p50: tenth(quantile(lateness, 0.5)), p99: tenth(quantile(lateness, 0.99)), max: tenth(max) },
    lone_lateness_seconds: Object.fromEntries(singles.map(({ afterMs, id }) => [`+${afterMs} ms`, (sent.get(id)! - dueMs - afterMs) / 1000])),
    cpu_ms_per_post: Object.fromEntries(Object.entries(cpuMsPer(posts, before, after)).map(([name, ms]) => [name, tenth(ms)])),
  };
}

async function later(caller: Caller, account: string, dueMs: number, content: string): Promise<string> {
  return (await caller.publish({ targets: [account], content, scheduled_at: new Date(dueMs).toISOString() })).id as string;
}

async function allEnded({ system }: Setting, say: (text: string) => void): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const open = await inScope(system.db, SYSTEM, (tx) => tx.count(PostEntity, { status: { $in: ['scheduled', 'publishing'] } }));
    if (open === 0) return;
    if (performance.now() - startedAt > ALL_WITHIN_MS) return say(`${open} posts have not ended`);
    await pause(LOOK_AGAIN_MS);
  }
}

/** By the sandbox's ledger, which knows nothing of our tables. */
async function publishedPosts(caller: Caller): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await caller.get(`/v1/sandbox/ledger?limit=100${cursor}`);
    ids.push(...body.data.filter((entry: { kind: string }) => entry.kind === 'publish').map((entry: { post_id: string }) => entry.post_id));
    if (!body.has_more) return ids;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

function tenth(value: number): number {
  return Number(value.toFixed(1));
}
