import { ApiError, type Issue } from '../../../../infra/contract/errors.ts';
import type { Config } from '../../../../infra/config/config.ts';
import type { Mode } from '../../../../infra/contract/platforms.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { MediaItem, OptionMap } from '../../../../infra/db/entities/post.entity.ts';
import { findSelectedAccounts, findWorkspaces } from '../../../../infra/db/repositories/targets.ts';
import { platformCatalog, type CatalogEntry, type EffectiveOptions } from '../../../../providers/catalog.ts';
import type { Call } from '../../../route.ts';
import { validationError } from '../../../validation/issues.ts';
import { effectiveOf, readLayers, type Effective, type ReadLayers } from './effective-options.ts';
import { refuseMediaUrls } from './media-urls.ts';
import { isBlank } from './render.ts';
import { resolveTargets, type ResolvedTarget } from './resolve-targets.ts';
import { checkTarget, refuseBroken } from './rules.ts';
import type { Schedule } from './schedule.ts';

/** A post as it is to be, before it is known whether it can. */
export interface PostWish {
  content: string | null;
  media: MediaItem[] | null;
  targetOptions: OptionMap | null;
  schedule: Pick<Schedule, 'kind' | 'warnings'>;
  targets: readonly ResolvedTarget[];
}

/** What one target will publish. */
export interface PlannedTarget extends ResolvedTarget {
  text: string | null;
  media: MediaItem[];
  options: EffectiveOptions;
}

export interface PostPlan {
  targets: PlannedTarget[];
  /** Codes of everything that is no refusal. */
  warnings: string[];
}

/** Selectors to accounts, with the statements that it takes: accounts, and the workspaces they lie in. */
export async function resolveSelectors(call: Call, selectors: readonly string[], workspaceId: string | null): Promise<ResolvedTarget[]> {
  // An account on a platform without an adapter could not be published to, so it counts as no account.
  const accounts = (await findSelectedAccounts(call.tx, selectors)).filter((account) => platformCatalog(account.platform) !== null);
  const named = [...selectors.filter((one) => one.startsWith('ws_')), ...accounts.flatMap((account) => account.workspaceId ?? [])];
  const workspaces = await findWorkspaces(call.tx, named);
  return resolveTargets(selectors, { accounts, workspaces, workspaceId, caller: call.caller });
}

/** Rows 5 to 10 of the post's checks, after its targets are known: options by target, something to publish, platform rules. */
export function planPost(wish: PostWish, deployment: { config: Config; mode: Mode }): PostPlan {
  const isDraft = wish.schedule.kind === 'draft';
  const read = wish.targets.map((target) => ({ ...target, catalog: catalogOf(target.account), read: readLayers(wish.targetOptions, target.account) }));
  refuseOptions(read.flatMap((one) => one.read.issues));
  refuseMediaUrls(wish, deployment);
  const warnings = [...wish.schedule.warnings, ...unusedOptions(wish, read), ...accountWarnings(wish)];
  const planned = read.map((one) => ({ ...one, effective: effectiveOf(wish, one.read.layers, one.catalog) }));
  if (!isDraft) {
    refuseEmpty(planned);
    const issues = planned.flatMap((one) => checkTarget(one.effective, one.account, one.catalog));
    refuseBroken(issues);
    warnings.push(...issues.map((issue) => issue.code));
  }
  return {
    targets: planned.map(({ account, byId, effective: { text, media, options } }) => ({ account, byId, text, media, options })),
    warnings,
  };
}

/** Row 11. An account that was named by its id must be able to publish; drafts may wait for it. */
export function refuseAccountStates(wish: Pick<PostWish, 'schedule' | 'targets'>): void {
  const { kind } = wish.schedule;
  if (kind === 'draft') return;
  const gone = wish.targets.filter(({ account }) => account.status === 'disconnecting' || account.status === 'disconnected').map(({ account }) => account.id);
  if (gone.length > 0) throw new ApiError('ACCOUNT_DISCONNECTED', 'An account is disconnected. Connect it again, or leave it out.', { details: { account_ids: gone } });
  if (kind === 'later') return;
  const broken = wish.targets.filter(({ account, byId }) => byId && account.status === 'reconnect_required').map(({ account }) => account.id);
  if (broken.length > 0) throw new ApiError('ACCOUNT_RECONNECT_REQUIRED', 'An account has to be connected again before it can publish. Connect it, or leave it out.', { details: { account_ids: broken } });
}

function catalogOf(account: Account): CatalogEntry {
  const entry = platformCatalog(account.platform);
  if (entry === null) throw new Error(`an account of ${account.platform} exists without an adapter`);
  return entry;
}

function refuseOptions(issues: readonly Issue[]): void {
  if (issues.length > 0) throw validationError(issues);
}

function refuseEmpty(planned: readonly { account: Account; effective: Effective; catalog: CatalogEntry }[]): void {
  const empty = planned.filter(({ effective, catalog }) => {
    const hasText = !isBlank(effective.text);
    return !hasText && effective.media.length === 0 && !catalog.contentBearing(effective.options, hasText);
  });
  if (empty.length === 0) return;
  throw new ApiError('CONTENT_REQUIRED', 'Some targets have nothing to publish. Give content or media, or texts of their own in target_options.', { details: { account_ids: empty.map(({ account }) => account.id) } });
}

function unusedOptions(wish: PostWish, read: readonly { account: Account; read: ReadLayers }[]): string[] {
  const used = new Set(read.flatMap((one) => one.read.layers.map((layer) => layer.key)));
  const keys = Object.keys(wish.targetOptions ?? {}).filter((key) => !used.has(key));
  return [...keys, ...read.flatMap((one) => one.read.unused)].map(() => 'OPTIONS_UNUSED');
}

function accountWarnings(wish: PostWish): string[] {
  return wish.targets.flatMap(({ account }) => {
    if (account.status === 'reconnect_required') return ['ACCOUNT_RECONNECT_REQUIRED'];
    return account.status === 'active' ? [] : ['ACCOUNT_DISCONNECTED'];
  });
}
