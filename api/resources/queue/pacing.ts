import { AUTO_GAP_MIN_SECONDS } from '../../../infra/contract/limits.ts';
import type { Platform } from '../../../infra/contract/platforms.ts';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import { platformCatalog } from '../../../providers/catalog.ts';

export type PacedAccount = Pick<Account, 'id' | 'mode' | 'platform' | 'minGapSeconds' | 'dailyBudget'>;

const HOUR_S = 3_600;

/** How far apart the service itself places two posts of an account. */
const AUTO_GAP_SECONDS: Readonly<Record<Platform, number>> = {
  twitter: HOUR_S / 2, threads: HOUR_S / 2, bluesky: HOUR_S / 2, mastodon: HOUR_S / 2, telegram: HOUR_S / 2, discord: HOUR_S / 2,
  facebook: 2 * HOUR_S, linkedin: 2 * HOUR_S, pinterest: 2 * HOUR_S, reddit: 2 * HOUR_S, googlebusiness: 2 * HOUR_S, snapchat: 2 * HOUR_S,
  instagram: 4 * HOUR_S, tiktok: 4 * HOUR_S, youtube: 4 * HOUR_S,
  whatsapp: 12 * HOUR_S, sms: 12 * HOUR_S,
  beehiiv: 24 * HOUR_S, convertkit: 24 * HOUR_S, mailchimp: 24 * HOUR_S, listmonk: 24 * HOUR_S,
};

/** The least distance between a slot that the service chooses and any other post of the account. */
export function minimumGapSeconds(account: PacedAccount): number {
  return Math.max(AUTO_GAP_MIN_SECONDS, effectiveGapSeconds(account), AUTO_GAP_SECONDS[account.platform]);
}

/** The least distance between two sends of the account: the larger of the caller's and the platform's figure. */
export function effectiveGapSeconds(account: PacedAccount): number {
  return Math.max(account.minGapSeconds, platformPacing(account)?.minGapSeconds ?? 0);
}

/** How many posts the account may send within 24 hours: the smaller of the caller's and the platform's figure. Null = any number. */
export function dailyBudgetOf(account: PacedAccount): number | null {
  const budgets = [account.dailyBudget, platformPacing(account)?.dailyBudget].filter((one) => typeof one === 'number');
  return budgets.length === 0 ? null : Math.min(...budgets);
}

/** The figures of a platform do not hold at the sandbox. */
function platformPacing({ mode, platform }: PacedAccount): { minGapSeconds: number; dailyBudget: number | null } | undefined {
  return mode === 'test' ? undefined : platformCatalog(platform)?.pacing;
}
