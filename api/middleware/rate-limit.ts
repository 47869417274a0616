import { ApiError } from '../../infra/contract/errors.ts';
import type { Infra } from '../../infra/context.ts';
import type { KeyRow } from '../../infra/db/repositories/api-keys.ts';
import { takeTokens, type BucketLevel } from '../../infra/db/repositories/rate-limits.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import type { Context } from '../state.ts';

/** Row 14: one token of the key's bucket and one of the organization's, or none. Off without a number: no statement, no headers. */
export async function takeRequestTokens(ctx: Context, infra: Infra, key: KeyRow): Promise<void> {
  const { ratePerMinute } = key.organization;
  if (ratePerMinute === null) return;
  const perMinute = { key: Math.max(1, Math.floor(ratePerMinute / 2)), organization: ratePerMinute };
  const taking = await inScope(infra.db, SYSTEM, (tx) => takeTokens(tx, [
    { id: `key:${key.id}`, perMinute: perMinute.key },
    { id: `organization:${key.organizationId}`, perMinute: perMinute.organization },
  ]));
  const [ofKey, ofOrganization] = taking.levels as [BucketLevel, BucketLevel];
  ctx.set('RateLimit-Policy', `"key";q=${perMinute.key};w=60, "organization";q=${perMinute.organization};w=60`);
  ctx.set('RateLimit', `"key";r=${ofKey.left};t=${ofKey.secondsUntilFull}, "organization";r=${ofOrganization.left};t=${ofOrganization.secondsUntilFull}`);
  if (taking.isGranted) return;
  const limit = ofKey.secondsUntilToken > 0 ? 'key' : 'organization';
  throw new ApiError('RATE_LIMITED', `More than ${perMinute[limit]} requests per minute came from this ${limit}. Send the same request again after Retry-After.`, {
    details: { limit, per_minute: perMinute[limit] },
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(Math.max(ofKey.secondsUntilToken, ofOrganization.secondsUntilToken)))) },
  });
}
