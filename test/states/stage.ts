import { randomUUID } from 'node:crypto';
import { EventEntity } from '../../infra/db/entities/event.entity.ts';
import { TargetEntity } from '../../infra/db/entities/target.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { Caller } from '../support/caller.ts';
import type { Moments } from '../support/moments.ts';
import type { System } from '../support/system.ts';
import type { Tapped } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

/** What a story saw: the state before its trigger and after it, and every event of the post and its operations. */
export interface Told {
  from: string;
  to: string;
  events: string[];
}

/** The whole system with an organization of its own, as one story needs it. */
export class Stage {
  readonly system: System;
  readonly moments: Moments;
  readonly caller: Caller;
  readonly organizationId: string;
  readonly twitter: string;
  readonly mastodon: string;

  private constructor(parts: { system: System; moments: Moments; caller: Caller; organizationId: string; twitter: string; mastodon: string }) {
    this.system = parts.system;
    this.moments = parts.moments;
    this.caller = parts.caller;
    this.organizationId = parts.organizationId;
    this.twitter = parts.twitter;
    this.mastodon = parts.mastodon;
  }

  static async open(system: System, moments: Moments): Promise<Stage> {
    const { organizationId, testKey, accounts } = await system.tenant();
    return new Stage({ system, moments, caller: new Caller(system.baseUrl, testKey), organizationId, twitter: accounts.twitter!.id, mastodon: accounts.mastodon!.id });
  }

  /** A post with a text that nobody had before, on the one account unless others are named. */
  async create(scheduledAt: string, words = '', more: Record<string, unknown> = {}): Promise<any> {
    return this.caller.publish({ targets: [this.twitter], content: fresh(words), scheduled_at: scheduledAt, ...more });
  }

  async post(id: string): Promise<any> {
    return (await this.caller.get(`/v1/posts/${id}`)).body;
  }

  /** A target's status, with its code where it has one. */
  async state(postId: string, accountId = this.twitter): Promise<string> {
    return Caller.state(await this.post(postId), accountId);
  }

  /** Of a post that is hidden: what its publishing log still says. */
  async logged(post: any, accountId = this.twitter): Promise<string> {
    const { body } = await this.caller.get(`/v1/posts/logs/${this.target(post, accountId).target_id}`);
    return body.status === 'failed' ? `failed ${body.error_code}` : body.status;
  }

  target(post: any, accountId = this.twitter): any {
    return post.targets[accountId].accounts[0];
  }

  async operation(post: any, accountId = this.twitter): Promise<any> {
    return (await this.caller.get(`/v1/operations/${this.target(post, accountId).operation_id}`)).body;
  }

  /** The post once a target of it is in this state. */
  async reached(postId: string, state: string, accountId = this.twitter): Promise<any> {
    await until(`${postId} is ${state}`, async () => (await this.state(postId, accountId)) === state, 150_000);
    return this.post(postId);
  }

  async waiting(postId: string, reason: string): Promise<any> {
    return until(`${postId} waits for ${reason}`, async () => {
      const post = await this.post(postId);
      return this.target(post).waiting_for === reason ? post : null;
    });
  }

  async sending(post: any): Promise<void> {
    await until('a request is under way', async () => (await this.operation(post)).status === 'sending');
  }

  async change(method: 'post' | 'patch' | 'delete', path: string, body?: unknown): Promise<any> {
    const { status, body: reply } = await this.caller[method](path, body as never);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(reply)}`);
    return reply;
  }

  async verdict(operation: any, outcome: 'published' | 'not_published'): Promise<void> {
    const proof = outcome === 'published' ? { platform_post_id: `${Date.now()}` } : {};
    await this.change('post', `/v1/operations/${operation.id}/verdict`, { outcome, reason: 'a person looked', expected_revision: operation.revision, ...proof });
  }

  /** How often the platform made something of this post public. */
  async publications(postId: string): Promise<number> {
    return (await this.caller.ledger({ post_id: postId })).length;
  }

  async events(postId: string): Promise<string[]> {
    return inScope(this.system.db, SYSTEM, async (tx) => {
      const operations = await tx.execute<{ id: string }[]>('select id from operation where post_id = ? order by created_at, attempt', [postId]);
      const rows = await tx.find(EventEntity, { subjectId: { $in: [postId, ...operations.map((one) => one.id)] } }, { orderBy: { sequence: 'asc' } });
      const of = (subject: string) => rows.filter((one) => one.subjectId === subject).map((one) => one.event);
      return [postId, ...operations.map((one) => one.id)].flatMap(of);
    });
  }

  async told(from: string, to: string, postId: string): Promise<Told> {
    return { from, to, events: await this.events(postId) };
  }

  /** Time that no test can wait for, and settings that no route has, are moved in the rows. */
  async move(sql: string, params: unknown[]): Promise<void> {
    await inScope(this.system.db, SYSTEM, (tx) => tx.execute(sql, params));
  }

  async isTargetThere(targetId: string): Promise<boolean> {
    return inScope(this.system.db, SYSTEM, async (tx) => (await tx.count(TargetEntity, { id: targetId })) === 1);
  }

  /** The worker stands still while the post is made, so that the carrier can be caught with the platform's answer in its hands. */
  async caughtWithTheAnswer(words: string): Promise<{ post: any; held: Promise<Tapped> }> {
    const post = await this.create('now', words);
    return { post, held: this.moments.hold(this.target(post).operation_id, 'with the answer') };
  }
}

export function fresh(words = ''): string {
  return `story ${randomUUID()} ${words}`;
}

export function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1_000).toISOString();
}
