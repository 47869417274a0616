import { ApiError } from '../../infra/contract/errors.ts';
import { bearerDigest, bearerPrefix } from '../../infra/crypto/bearer.ts';
import type { Infra } from '../../infra/context.ts';
import { findKeyByDigest, noteKeyUse, type KeyRow } from '../../infra/db/repositories/api-keys.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { ClientAddress } from '../client-address.ts';
import { FailedAuthentications } from '../failed-authentications.ts';
import { PERMISSIONS, type Caller } from '../route.ts';
import type { Context, Middleware } from '../state.ts';
import { takeRequestTokens } from './rate-limit.ts';

const LAST_USED_EVERY_MS = 5 * 60_000;
const NOT_VALID = 'This key is not valid.';

/** Rows 11 to 14. Nothing is cached: a revoked key is refused by the next request. */
export function authenticate(infra: Infra): Middleware {
  const addresses = new ClientAddress(infra.config.trustedProxies);
  const failures = new FailedAuthentications(infra);
  const uses = new KeyUses(infra);
  return async function authenticate(ctx, next) {
    const secret = presentedSecret(ctx);
    const address = addresses.bucketOf(ctx.req);
    if (bearerPrefix(secret) === null) {
      failures.countMalformed(address);
      throw unauthorized('This is not a key of this service; check that it was copied whole.');
    }
    const digests = infra.secrets.peppers.map((pepper) => ({ pepperId: pepper.id, digest: bearerDigest(pepper, secret) }));
    const now = infra.clock.now();
    const key = await findKeyByDigest(infra.db, digests);
    if (key !== null && key.enabled && !isExpired(key, now)) await admit(ctx, infra, key);
    // Unknown and disabled keys take the same path, so that their answers take the same time.
    if (key === null || !key.enabled) await failures.countUnknown(address);
    if (key === null || !key.enabled) throw unauthorized(NOT_VALID);
    if (isExpired(key, now)) throw unauthorized(`This key expired at ${key.expiresAt!.toISOString()}.`);
    uses.note(key, digests[0]!);
    await next();
  };
}

/** Rows 13 and 14. */
async function admit(ctx: Context, infra: Infra, key: KeyRow): Promise<void> {
  ctx.state.caller = callerOf(key);
  ctx.set('X-Oncepost-Mode', key.mode);
  refuseEndedOrganization(key);
  await takeRequestTokens(ctx, infra, key);
}

function presentedSecret(ctx: Context): string {
  const match = /^Bearer ([^\s]+)$/i.exec(ctx.get('Authorization'));
  if (match === null) throw unauthorized('Send Authorization: Bearer <API key>.');
  return match[1]!;
}

function isExpired(key: KeyRow, now: Date): boolean {
  return key.expiresAt !== null && key.expiresAt <= now;
}

function refuseEndedOrganization(key: KeyRow): void {
  const { status } = key.organization;
  if (status === 'active') return;
  const reason = status === 'suspended' ? 'organization_suspended' : 'organization_deleting';
  throw new ApiError('FORBIDDEN', `The organization of this key is ${status === 'suspended' ? 'suspended' : 'being deleted'}.`, { details: { reason } });
}

function unauthorized(message: string): ApiError {
  return new ApiError('UNAUTHORIZED', message);
}

function callerOf(key: KeyRow): Caller {
  const { plan, quotaMode, quotaUnits, requireWorkspaceId } = key.organization;
  return {
    credentialId: key.id,
    kind: 'service',
    organizationId: key.organizationId,
    mode: key.mode,
    permissions: PERMISSIONS.filter((permission) => permission === 'read' || key.permissions.includes(permission)),
    workspaceScope: key.workspaceScope ?? 'all',
    lineage: key.id,
    actor: { type: 'api_key', id: key.id },
    organization: { plan, quotaMode, quotaUnits, requireWorkspaceId },
  };
}

/** Writes `last_used_at` at most every five minutes per key, behind the request's back. */
class KeyUses {
  readonly #infra: Infra;
  readonly #busy = new Set<string>();

  constructor(infra: Infra) {
    this.#infra = infra;
  }

  note(key: KeyRow, digest: { pepperId: string; digest: Buffer }): void {
    const now = this.#infra.clock.now();
    const isFresh = key.lastUsedAt !== null && now.getTime() - key.lastUsedAt.getTime() < LAST_USED_EVERY_MS;
    if ((isFresh && key.pepperId === digest.pepperId) || this.#busy.has(key.id)) return;
    this.#busy.add(key.id);
    inScope(this.#infra.db, SYSTEM, (tx) => noteKeyUse(tx, { keyId: key.id, at: now, digest, replaces: key.digest }))
      .catch((error: unknown) => this.#infra.log.warn({ err: error, key_id: key.id }, 'the use of a key was not noted'))
      .finally(() => this.#busy.delete(key.id));
  }
}
