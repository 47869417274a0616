import type { Account } from './accounts.ts';
import type { Call } from './platforms/platform.ts';
import type { Reply } from './reply.ts';

const RATE_LIMITED_SECONDS = 60;
export const LISTING_LATE_MS = 30_000;

/** What the account's `sandbox_behaviour` answers to every call, or `null` when it lets the call through. */
export function behaviourReply(call: Call): Reply | null {
  const { replies } = call.platform;
  if (!call.signedIn) return null;
  switch (call.account.behaviour) {
    case 'token_expired': return isPastExpiry(call.account) ? null : replies.expired();
    case 'token_revoked': return replies.revoked();
    case 'scopes_missing': return replies.scopesMissing();
    case 'suspended': return replies.suspended();
    case 'rate_limited': return replies.rateLimited(call.route.bucket, RATE_LIMITED_SECONDS);
    case 'listing_hidden': return call.route.reconciles ? replies.unavailable() : null;
    default: return null;
  }
}

/** A refresh after the behaviour was set makes the account work again. */
function isPastExpiry(account: Account): boolean {
  return account.generation > account.behaviourGeneration;
}

export function isAccessExpired(account: Account, lifetimeSeconds: number | null): boolean {
  return lifetimeSeconds !== null && Date.now() > account.accessSince.getTime() + lifetimeSeconds * 1_000;
}
