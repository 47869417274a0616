import type { Infra } from '../../infra/context.ts';
import { REQUEST_TRANSACTION_TIMEOUT_MS } from '../../infra/contract/limits.ts';
import { inSnapshot, tenant } from '../../infra/db/tenant.ts';
import { beginMutation, type ReceiptIdentity } from '../../infra/db/repositories/receipts.ts';
import { assertReply } from '../check-replies.ts';
import { mutate } from '../mutation.ts';
import { cursorBinding } from '../page.ts';
import { renderMutation, renderReply, writeReply, type RenderedReply } from '../rendered-reply.ts';
import type { Call, Reply, RouteSpec } from '../route.ts';
import type { Context, Middleware } from '../state.ts';
import { Turns } from '../turns.ts';
import { inProgress, receiptIdentity, throughReceipt, type Executed } from './idempotency.ts';

type AfterCommit = (() => Promise<void>)[];

const LONG_AT_ONCE = 2;
const TURN_PATIENCE_MS = 20_000;

/** Rows 25 to 35: one transaction in the caller's scope around receipt and handler; what follows the commit never changes what it said. */
export function unitOfWork(options: { infra: Infra; checkReplies: boolean }): Middleware {
  const { infra, checkReplies } = options;
  const turns = new Turns({ atOnce: LONG_AT_ONCE, patienceMs: TURN_PATIENCE_MS });
  return async function unitOfWork(ctx) {
    const after: AfterCommit = [];
    const route = ctx.state.route as RouteSpec;
    const carryOut = () => (route.method === 'GET' ? read({ infra, ctx, after }) : write({ infra, ctx, after }));
    const executed = route.takesTurns === true ? await turns.run(ctx.state.caller!.organizationId, carryOut) : await carryOut();
    for (const work of after) work().catch((error: unknown) => infra.log.warn({ err: error, request_id: ctx.state.requestId }, 'work after the commit failed'));
    const reply = await settled(executed, { infra, ctx });
    if (checkReplies) assertReply(route, reply);
    writeReply(ctx, reply);
  };
}

interface Work {
  infra: Infra;
  ctx: Context;
  after: AfterCommit;
}

async function read({ infra, ctx, after }: Work): Promise<Executed> {
  const { route, caller } = ctx.state;
  return inSnapshot(infra.db, tenant(caller!), async (tx) => {
    const reply = await (route as RouteSpec).handler(callOf({ infra, ctx, after, tx }));
    return { reply: renderReply(reply), settle: reply.settle };
  });
}

async function write({ infra, ctx, after }: Work): Promise<Executed> {
  const { route, caller, idempotencyKey, fault, requestId } = ctx.state;
  const identity: ReceiptIdentity | null = idempotencyKey === undefined ? null : receiptIdentity(caller!, idempotencyKey);
  if (identity === null && fault !== undefined) throw fault;
  if (identity !== null) ctx.set('Idempotency-Replayed', 'false');
  const handler = (route as RouteSpec).handler;
  const work = { db: infra.db, scope: tenant(caller!), identity, requestId, timeoutMs: REQUEST_TRANSACTION_TIMEOUT_MS };
  return mutate(work, async (tx) => {
    const begin = await beginMutation(tx, work);
    if (!begin.isLocked) throw inProgress();
    const call = callOf({ infra, ctx, after, tx });
    const execute = () => handler(call);
    const executed = identity === null ? plain(await execute()) : await throughReceipt({ infra, ctx, tx, call, execute });
    return { begin, result: executed };
  });
}

function plain(reply: Reply): Executed {
  return { reply: renderMutation(reply), settle: reply.settle };
}

/** `Prefer: wait` and the like: the commit has spoken already, so a failure here falls back to what it said. */
async function settled(executed: Executed, { infra, ctx }: { infra: Infra; ctx: Context }): Promise<RenderedReply> {
  if (executed.settle === undefined) return executed.reply;
  try {
    return renderReply(await executed.settle());
  } catch (error) {
    infra.log.warn({ err: error, request_id: ctx.state.requestId }, 'waiting for the outcome failed');
    return executed.reply;
  }
}

function callOf({ infra, ctx, after, tx }: Work & { tx: Call['tx'] }): Call {
  const { caller, pathParams, input, requestId } = ctx.state;
  return {
    infra, tx, caller: caller!, params: pathParams, query: input?.query ?? {}, body: input?.body ?? {}, window: input?.window, waitSeconds: input?.waitSeconds ?? 0, ...(input?.file === undefined ? {} : { file: input.file }),
    headers: ctx.headers as Call['headers'], requestId, now: infra.clock.now(), cursorBinding: cursorBinding(ctx),
    afterCommit: (work) => after.push(work),
  };
}
