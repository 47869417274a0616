import { ApiError } from '../../../../infra/contract/errors.ts';
import type { Call, Caller } from '../../../route.ts';

/** Features of the Pro plan that a body asks for, by the names of their members. What is stored was asked for before. */
export function proFeatures(body: Call['body']): string[] {
  return body.shorten_urls === true ? ['shorten_urls'] : [];
}

/** Everything of Pro is open to test keys. */
export function refuseUpgrade(features: readonly string[], { mode, organization }: Pick<Caller, 'mode' | 'organization'>): void {
  if (features.length === 0 || mode === 'test' || organization.plan === 'pro') return;
  throw new ApiError('PLAN_UPGRADE_REQUIRED', `The Pro plan has this, this organization's plan has not: ${features.join(', ')}. Leave it out, or ask for the Pro plan.`, { details: { features } });
}
