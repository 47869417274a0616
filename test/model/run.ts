import { expect } from '@jest/globals';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import type { Caller } from '../support/caller.ts';
import { look, mayBeHeld, probe, step, type ModelCarrier, type Surroundings } from './carriage.ts';
import type { Carrier } from './carriers.ts';
import { World, type Operation, type Post } from './model.ts';
import * as requests from './requests.ts';
import type { Organization, System } from './system.ts';
import { time } from './time.ts';

/** The model and the service side by side, in an organization of their own. What is done to one is done to the other. */
export class Run {
  readonly system: System;
  readonly caller: Caller;
  readonly world: World;
  readonly #organizationId: string;
  carriers: { real: Carrier; model: ModelCarrier }[] = [];

  constructor(system: System, { id, caller, accounts }: Organization) {
    this.system = system;
    this.caller = caller;
    this.#organizationId = id;
    this.world = new World(accounts);
  }

  #around(heldUntil: number | null = null): Surroundings {
    return { world: this.world, now: time.now(), isDown: this.system.line.isDown, heldUntil };
  }

  /** Asked before the model goes on, because it does not know the order of late posts. */
  async #heldUntil({ operation, at }: ModelCarrier, stands: string): Promise<number | null> {
    if (stands !== 'ended' || at === 'claimed' || at === 'answered' || !mayBeHeld(operation, this.#around()) || operation.target.post.isDeleted) return null;
    const [account] = (await this.read(operation.target.post)).targets[operation.target.account.id].accounts;
    const isHeld = account.operation_state === 'pending' && (at === 'connected' || account.waiting_for === 'rate_budget');
    return isHeld ? Date.parse(account.waiting_until) : null;
  }

  async read(post: Post): Promise<any> {
    return (await this.caller.get(`/v1/posts/${post.id}`)).body;
  }

  /** The ids of operations that were opened just now. */
  learn(post: Post, body: any): void {
    for (const { account, operation } of post.targets) if (operation?.id === '') operation.id = body.targets[account.id].accounts[0].operation_id;
  }

  async carry(operation: Operation): Promise<void> {
    if ((await this.#carry(operation)) === 'ended') await this.look(operation.target.post);
  }

  async #carry(operation: Operation): Promise<string> {
    const model: ModelCarrier = { operation, at: 'ended', seen: { at: 0, isOpen: false, sends: 0, failures: 0, claimedAt: null }, answer: null };
    const real = await this.system.carry(operation.id);
    const stands = await real.settled();
    look(model, this.#around(await this.#heldUntil(model, stands)));
    await this.#agree(model, stands);
    if (model.at !== 'ended') this.carriers.push({ real, model });
    return stands;
  }

  async step(index: number): Promise<void> {
    const { operation } = this.carriers[index]!.model;
    if ((await this.#step(index)) === 'ended') await this.look(operation.target.post);
  }

  async #step(index: number): Promise<string> {
    const one = this.carriers[index]!;
    const stands = await one.real.step();
    step(one.model, this.#around(await this.#heldUntil(one.model, stands)));
    await this.#agree(one.model, stands);
    if (stands === 'ended') this.carriers.splice(index, 1);
    return stands;
  }

  /** Where a carrier stands says nothing of why; the operation does. */
  async #agree({ operation, at }: ModelCarrier, stands: string): Promise<void> {
    if (stands === at) return;
    const { body } = await this.caller.get(`/v1/operations/${operation.id}`);
    const { target, ...expected } = operation;
    throw new Error(`${operation.id} stands ${stands} and not ${at}: ${JSON.stringify(body)}; expected: ${JSON.stringify({ ...expected, claim: expected.claim?.until ?? null, result: null, now: time.now(), platform: target.account.platform, waitingUntil: target.waitingUntil, word: target.word, isDown: this.system.line.isDown })}`);
  }

  async die(index: number): Promise<void> {
    const [one] = this.carriers.splice(index, 1);
    await one!.real.die();
  }

  async probe(operation: Operation): Promise<void> {
    probe(operation, this.#around());
    await this.system.probe(operation.id);
    await this.look(operation.target.post);
  }

  /** What the front door shows of a post is what the model says. */
  async look(post: Post): Promise<void> {
    const { status, body } = await this.caller.get(`/v1/posts/${post.id}`);
    if (post.isDeleted) expect([status, body.error.code]).toEqual([404, 'POST_NOT_FOUND']);
    else this.compare(post, body);
  }

  compare(post: Post, body: any): void {
    const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
    expect({
      id: body.id, status: body.status, revision: body.revision, scheduled_at: body.scheduled_at, hold_reason: body.hold_reason, published_at: body.published_at,
      targets: Object.fromEntries(Object.entries<any>(body.targets).map(([id, target]) => [id, [target.status, target.error?.code ?? null, target.accounts[0].attempt, target.status === 'draft' ? null : target.accounts[0].operation_state]])),
    }).toEqual({
      id: post.id, status: post.status, revision: post.revision, scheduled_at: time(post.scheduledAt), hold_reason: post.holdReason, published_at: time(post.publishedAt),
      targets: Object.fromEntries(post.targets.map((target) => [target.account.id, [target.status, target.code, target.attempt, target.status === 'draft' ? null : target.operation?.status ?? null]])),
    });
  }

  /** Everything that is open is carried to its end, by carriers that nothing happens to any more. */
  async finish(): Promise<void> {
    this.system.line.isDown = false;
    while (this.carriers.length > 0) await this.#step(0);
    for (let round = 0; round < 40 && this.#isOpen(); round++) {
      time.pass(60_000);
      for (const post of this.world.posts) if (post.status === 'scheduled' && !post.isDeleted && post.scheduledAt! <= time.now()) await requests.begin(this, post, post.seq);
      for (const operation of this.world.operations) if (operation.status === 'pending' || operation.status === 'sending') await this.#carryOn(operation);
    }
    expect(this.#isOpen()).toBe(false);
  }

  async #carryOn(operation: Operation): Promise<void> {
    await this.#carry(operation);
    while (this.carriers.length > 0) await this.#step(0);
  }

  #isOpen(): boolean {
    const now = time.now();
    return this.world.operations.some((one) => one.status === 'pending' || one.status === 'sending') || this.world.posts.some((post) => post.status === 'scheduled' && !post.isDeleted && post.scheduledAt! <= now);
  }

  /** The promise, by the witness; and what was written down about everything. */
  async judge(): Promise<void> {
    const entries = await this.#ledger();
    for (const operation of this.world.operations) this.#judgeOperation(operation, entries.filter((one) => one.operation_id === operation.id));
    const doubles = entries.filter((one) => one.double).map((one) => one.operation_id);
    expect(doubles.toSorted()).toEqual(this.world.operations.filter((one) => this.#repeatsWhatWasDenied(one)).map((one) => one.id).toSorted());
    expect(entries.length).toBe(this.world.accounts.flatMap((account) => account.objects).length);
    for (const post of this.world.posts) await this.look(post);
    for (const post of this.world.posts) if (!post.isDeleted) expect(['publishing', 'scheduled'].includes(post.status) && post.scheduledAt! <= time.now()).toBe(false);
    await this.#judgeRows();
  }

  /** The only way to something twice: a person says that it did not happen, is wrong, and asks for it again. */
  #repeatsWhatWasDenied(operation: Operation): boolean {
    const { account, post } = operation.target;
    const made = (one: Operation) => account.objects.findIndex((object) => object.operation === one);
    return made(operation) >= 0 && this.world.operations.some((one) => one.wasDenied && one.target.post === post && one.target.account === account && one.attempt < operation.attempt && made(one) >= 0 && made(one) < made(operation));
  }

  #judgeOperation(operation: Operation, entries: any[]): void {
    const { status, settledBy, sends, target } = operation;
    const made = target.account.objects.filter((one) => one.operation === operation);
    expect([operation.id, entries.length]).toEqual([operation.id, made.length]);
    expect(entries.length).toBeLessThanOrEqual(1);
    expect(entries.every((entry) => entry.text === operation.text && entry.attempt === operation.attempt)).toBe(true);
    // Only a person can be wrong about what happened, and only who sent at all can have published.
    if (settledBy !== 'verdict') expect([operation.id, status, entries.length]).toEqual([operation.id, status, status === 'succeeded' ? 1 : status === 'failed' ? 0 : entries.length]);
    expect(entries.length).toBeLessThanOrEqual(sends);
    if (status === 'unknown') expect(sends).toBeGreaterThan(0);
    expect([operation.id, operation.followsTooSoon]).toEqual([operation.id, false]);
    // Three times in all, whoever sent them.
    expect(operation.repetitions).toBeLessThanOrEqual(target.account.platform === 'mastodon' ? 2 : 0);
  }

  async #judgeRows(): Promise<void> {
    const [operations, events] = await inScope(this.system.api.infra.db, SYSTEM, async (tx) => [
      await tx.execute<any[]>('select id, status, settled_by, revision, attempt, workflow_id from operation where organization_id = ? order by id', [this.#organizationId]),
      await tx.execute<any[]>('select subject_id, event from event where organization_id = ? order by sequence', [this.#organizationId]),
    ]);
    expect(operations).toEqual([...this.world.operations].sort((a, b) => (a.id < b.id ? -1 : 1)).map((one) => ({
      id: one.id, status: one.status, settled_by: one.settledBy, revision: one.revision, attempt: one.attempt, workflow_id: `post/${one.target.post.id}/${one.seq}`,
    })));
    for (const { id, events: expected } of [...this.world.posts, ...this.world.operations]) expect([id, ...events.filter((one) => one.subject_id === id).map((one) => one.event)]).toEqual([id, ...expected]);
  }

  async #ledger(): Promise<any[]> {
    const { data, has_more: hasMore } = (await this.caller.get('/v1/sandbox/ledger?limit=100')).body;
    expect(hasMore).toBe(false);
    return data;
  }

  /** Whoever still carries dies with the run. */
  async end(): Promise<void> {
    this.system.line.isDown = false;
    while (this.carriers.length > 0) await this.die(0);
  }
}
