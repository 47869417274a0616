import { ApiError } from '../../../../infra/contract/errors.ts';
import type { Caller } from '../../../route.ts';

/** Features of the Pro plan that a post uses, by the names of their members. */
export function proFeatures(wish: { shortenUrls: boolean }): string[] {
  return wish.shortenUrls ? ['shorten_urls'] : [];
}

/** Everything of Pro is open to test keys. */
export function refuseUpgrade(features: readonly string[], { mode, organization }: Pick<Caller, 'mode' | 'organization'>): void {
  if (features.length === 0 || mode === 'test' || organization.plan === 'pro') return;
  throw new ApiError('PLAN_UPGRADE_REQUIRED', `The Pro plan has this, this organization's plan has not: ${features.join(', ')}. Leave it out, or ask for the Pro plan.`, { details: { features } });
}
