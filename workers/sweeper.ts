import type { ActivityDeps } from '../activities/deps.ts';
import { carryOut } from '../activities/operations/carry-out.ts';
import type { Infra } from '../infra/context.ts';
import { OperationEntity } from '../infra/db/entities/operation.entity.ts';
import { PostEntity } from '../infra/db/entities/post.entity.ts';
import type { OutboxRow } from '../infra/db/entities/outbox.entity.ts';
import { TargetEntity } from '../infra/db/entities/target.entity.ts';
import { startPublishPost, startReconcile, wakeReconcile } from '../infra/db/repositories/outbox.ts';
import { inScope, SYSTEM } from '../infra/db/tenant.ts';
import type { Tx } from '../infra/db/database.ts';
import { refOf } from '../infra/ledger/open.ts';
import type { Log } from '../infra/log/log.ts';
import { tellTemporal } from '../infra/temporal/tell.ts';
import { BackgroundLoop } from './background-loop.ts';
import { forgetOld } from './retention.ts';

const BATCH = 200;
const AT_ONCE = 8;

/**
 * Finds what nobody carries any more: claims whose deadline is long past, due posts without a workflow, unknown outcomes
 * that nobody reads. Killed processes, terminated workflows and a lost Temporal database end in a truthful state by it.
 * It lives beside Temporal, not in it, because it must also work when Temporal lost everything.
 */
export class Sweeper {
  readonly #deps: ActivityDeps;
  readonly #log: Log;
  readonly #loop: BackgroundLoop;

  constructor(deps: ActivityDeps) {
    this.#deps = deps;
    this.#log = deps.infra.log.child({ subsystem: 'sweeper' });
    const { sweepEveryMs } = deps.infra.config.timing;
    const turn = async () => {
      await this.#sweep();
      return sweepEveryMs;
    };
    this.#loop = new BackgroundLoop({ log: this.#log, turn, afterFailureMs: sweepEveryMs });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #sweep(): Promise<void> {
    const { infra } = this.#deps;
    await this.#each(await lostClaims(infra), async (id) => {
      // The activity's own decision: an expired claim becomes unknown, an expired keyed one is read and sent again.
      const result = await carryOut(this.#deps, { operationId: id });
      this.#log.warn({ operation_id: id, result: result.kind }, 'a claim had outlived its deadline');
    });
    await forgetOld(infra);
    await this.#each(await lostWork(infra), (row) => tellTemporal(infra.temporal, row, { now: infra.clock.now(), policy: 'ALLOW_DUPLICATE_FAILED_ONLY' }));
  }

  /** A few at a time, each for itself: one that cannot be done keeps nobody else waiting. Ends early when the process is to stop. */
  async #each<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
    const queue = [...items];
    const carrier = async () => {
      for (let item = queue.shift(); item !== undefined && !this.#loop.isStopping; item = queue.shift()) {
        await work(item).catch((error: unknown) => this.#log.error({ err: error }, 'one of the lost could not be taken up'));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, carrier));
  }
}

async function lostClaims({ db, clock, config }: Infra): Promise<string[]> {
  const before = new Date(clock.now().getTime() - config.timing.sweepMarginMs);
  return inScope(db, SYSTEM, async (tx) => (await tx.find(OperationEntity, { status: 'sending', claimDeadline: { $lt: before } }, { limit: BATCH, orderBy: { claimDeadline: 'asc' } })).map((one) => one.id));
}

async function lostWork(infra: Infra): Promise<OutboxRow[]> {
  const now = infra.clock.now();
  const before = new Date(now.getTime() - infra.config.timing.sweepMarginMs - infra.config.timing.sweepEveryMs);
  const { activityTimeoutMs } = infra.config.timing;
  return inScope(infra.db, SYSTEM, async (tx) => {
    const rows: OutboxRow[] = [];
    const unread = await tx.find(OperationEntity, { $or: [{ status: 'unknown' }, { status: 'failed', settledBy: 'verdict' }], nextProbeAt: { $lt: before } }, { limit: BATCH });
    // Started where it was lost, woken where it waits for something else.
    for (const operation of unread) rows.push(await startReconcile(tx, operation, { activityTimeoutMs, now }), await wakeReconcile(tx, operation, now));
    for (const post of await idlePosts(tx, { before, now })) {
      const targets = await tx.find(TargetEntity, { postId: post.id });
      const open = post.status === 'publishing' ? await tx.find(OperationEntity, { postId: post.id, status: { $in: ['pending', 'sending'] } }) : undefined;
      rows.push(await startPublishPost(tx, { post, platforms: targets.map((target) => target.platform), operations: open?.map(refOf), availableAt: now, now, activityTimeoutMs }));
    }
    return rows;
  });
}

/** Due posts that did not begin, and publishing ones whose open operations nobody touched since; of a bulk, only after their turn. */
async function idlePosts(tx: Tx, { before, now }: { before: Date; now: Date }) {
  const due = await tx.find(PostEntity, { status: 'scheduled', scheduledAt: { $lt: before }, deletedAt: null }, { limit: BATCH, orderBy: { scheduledAt: 'asc' } });
  const idle = await tx.execute<{ id: string }[]>(
    `select distinct p.id, p.updated_at from post p join operation o on o.post_id = p.id
      where p.status = 'publishing' and o.status = 'pending' and o.updated_at < ?
        and not exists (select from target t where t.operation_id = o.id and t.waiting_until > ?)
        and not exists (select from outbox w where w.id = 'start:post/' || p.id || '/' || p.seq and w.available_at > ?) order by p.updated_at limit ?`, [before, before, now, BATCH]);
  const publishing = idle.length === 0 ? [] : await tx.find(PostEntity, { id: { $in: idle.map((row) => row.id) } });
  return [...due, ...publishing];
}
