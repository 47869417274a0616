import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ApiError } from '../../infra/contract/errors.ts';
import type { Infra } from '../../infra/context.ts';
import { seal, unseal, type Place } from '../../infra/crypto/envelope.ts';
import type { Tx } from '../../infra/db/database.ts';
import { findReceipt, storeReceipt, type ReceiptIdentity, type StoredReceipt } from '../../infra/db/repositories/receipts.ts';
import type { Call, Caller, Reply, RouteSpec } from '../route.ts';
import { renderMutation, renderReply, type RenderedReply } from '../rendered-reply.ts';
import type { Context } from '../state.ts';

export interface Executed {
  reply: RenderedReply;
  /** Absent on a replay. */
  settle?: Reply['settle'];
}

export function receiptIdentity(caller: Caller, key: string): ReceiptIdentity {
  return { organizationId: caller.organizationId, mode: caller.mode, lineage: caller.lineage, key };
}

/**
 * Row 25, under the lock of the identity and inside the request's transaction: the stored reply if there is one, else the
 * handler's, stored beside the rows it tells of. Dying anywhere in here leaves nothing behind and the key free.
 */
export async function throughReceipt(options: { infra: Infra; ctx: Context; tx: Tx; call: Call; execute: () => Promise<Reply> }): Promise<Executed> {
  const { infra, ctx, tx, call } = options;
  const identity = receiptIdentity(call.caller, ctx.state.idempotencyKey!);
  const digests = { route: routeDigest(ctx), fingerprint: fingerprintOf(ctx) };
  const receipt = await findReceipt(tx, identity);
  if (receipt !== null) return { reply: await replay({ infra, ctx, call, receipt, digests }) };
  if (ctx.state.fault !== undefined) throw ctx.state.fault;
  const reply = await options.execute();
  const rendered = renderMutation(reply);
  await storeReceipt(tx, identity, receiptOf({ infra, ctx, call, reply, rendered, digests }));
  return { reply: rendered, settle: reply.settle };
}

export function inProgress(): ApiError {
  return new ApiError('IDEMPOTENCY_IN_PROGRESS', 'A request with this Idempotency-Key is still executing. Send the same request again after Retry-After.');
}

interface Digests {
  route: Buffer;
  fingerprint: Buffer;
}

async function replay(options: { infra: Infra; ctx: Context; call: Call; receipt: StoredReceipt; digests: Digests }): Promise<RenderedReply> {
  const { infra, ctx, call, receipt, digests } = options;
  const isSame = timingSafeEqual(receipt.route, digests.route) && timingSafeEqual(receipt.fingerprint, digests.fingerprint);
  if (!isSame) throw new ApiError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request. A key belongs to one route and to the exact bytes of one body.');
  const { workspaceScope } = call.caller;
  if (workspaceScope !== 'all' && receipt.workspaceIds.some((id) => !workspaceScope.includes(id))) {
    throw new ApiError('WORKSPACE_ACCESS_DENIED', 'The stored reply shows a workspace that this credential may not see any more.');
  }
  ctx.set('Idempotency-Replayed', 'true');
  const stored = receipt.sealed === null ? null : inflateRawSync(unseal(infra.secrets.encryptionKeys, placeOf(receipt.id, call.caller), receipt.sealed));
  const headers = { ...(receipt.location === null ? {} : { Location: receipt.location }), ...(receipt.etag === null ? {} : { ETag: receipt.etag }) };
  const { replay } = ctx.state.route as RouteSpec;
  if (replay === undefined || stored === null) return { status: receipt.status, body: stored, headers, isSecret: false };
  return { ...renderReply({ status: receipt.status, body: await replay(JSON.parse(stored.toString()), call) }), headers };
}

function receiptOf(options: { infra: Infra; ctx: Context; call: Call; reply: Reply; rendered: RenderedReply; digests: Digests }): StoredReceipt {
  const { infra, ctx, call, reply, rendered, digests } = options;
  const id = randomUUID();
  const body = storedBody(reply, rendered);
  return {
    id, ...digests, status: rendered.status, contentType: body === null ? null : 'application/json', requestId: ctx.state.requestId,
    location: rendered.headers.Location ?? null, etag: rendered.headers.ETag ?? null,
    sealed: body === null ? null : seal(infra.secrets.encryptionKeys, placeOf(id, call.caller), deflateRawSync(body, { level: 1 })),
    // An organization-level row is marked by the empty text, which no scope but `all` holds.
    workspaceIds: [...new Set((reply.workspaceIds ?? []).map((one) => one ?? ''))],
  };
}

/** One-time secrets are not kept: a replay names what it left out. */
function storedBody(reply: Reply, rendered: RenderedReply): Buffer | null {
  if (reply.secrets === undefined || rendered.body === null) return rendered.body;
  const without = Object.fromEntries(reply.secrets.map((name) => [name, null]));
  return Buffer.from(JSON.stringify({ ...(reply.body as object), ...without, secret_omitted: reply.secrets }));
}

function placeOf(id: string, caller: Caller): Place {
  return { table: 'receipt', column: 'sealed', row: id, organizationId: caller.organizationId };
}

/** The bytes as sent; of a form its parts, because a client draws a new boundary for each attempt. */
function fingerprintOf(ctx: Context): Buffer {
  const { form, rawBody } = ctx.state;
  const parts = form?.parts.map(({ name, fileName, type, bytes }) => [name, fileName, type, bytes.length, createHash('sha256').update(bytes).digest('hex')]);
  return createHash('sha256').update(parts === undefined ? rawBody : JSON.stringify(parts)).digest();
}

/** Method, decoded path, and the decoded pairs of the query sorted by name, then value. */
function routeDigest(ctx: Context): Buffer {
  const pairs = [...ctx.state.search].toSorted(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0));
  return createHash('sha256').update(JSON.stringify([ctx.method, decodeURIComponent(ctx.path), pairs])).digest();
}
