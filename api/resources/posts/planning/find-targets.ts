import { findSelectedAccounts, findWorkspaces } from '../../../../infra/db/repositories/targets.ts';
import { platformCatalog } from '../../../../providers/catalog.ts';
import type { Call } from '../../../route.ts';
import { mayAccess } from '../../../workspace-access.ts';
import type { Judge } from './judge.ts';
import type { PostWish } from './plan.ts';
import { refuseDenied, refuseInactive, refuseUnresolved, resolveTargets, type Resolution, type ResolvedTarget } from './resolve-targets.ts';

type Aim = Pick<PostWish, 'selectors' | 'reached' | 'standing' | 'workspaceGiven'>;

/** Row 5: the accounts that a post is aimed at. */
export async function findTargets(call: Call, aim: Aim, judge: Judge): Promise<Pick<Resolution, 'unresolved'> & { targets: readonly ResolvedTarget[] }> {
  const { selectors, standing } = aim;
  if (selectors === null) return { targets: stillGranted(call, standing.targets), unresolved: [] };
  const resolution = await resolve(call, selectors, aim);
  await judge(() => refuseUnresolved(resolution), undefined);
  await judge(() => refuseDenied(resolution), undefined);
  await judge(() => refuseInactive(resolution), undefined);
  return resolution;
}

/** Whoever changes what an account publishes must be allowed to publish through it, as if it were named anew. */
function stillGranted({ caller }: Call, targets: readonly ResolvedTarget[]): readonly ResolvedTarget[] {
  const denied = targets.map(({ account }) => account.workspaceId ?? null).filter((workspaceId) => !mayAccess(caller, workspaceId));
  refuseDenied({ denied });
  return targets;
}

/** Selectors to accounts, with the statements that it takes: accounts, and the workspaces they lie in. */
async function resolve(call: Call, selectors: readonly string[], { reached, workspaceGiven: workspaceId }: Aim): Promise<Resolution> {
  // An account on a platform without an adapter could not be published to, so it counts as no account.
  const accounts = (await findSelectedAccounts(call.tx, selectors, { workspaceId, scope: call.caller.workspaceScope })).filter((account) => platformCatalog(account.platform) !== null);
  const named = [...selectors.filter((one) => one.startsWith('ws_')), ...accounts.flatMap((account) => account.workspaceId ?? [])];
  const workspaces = await findWorkspaces(call.tx, named);
  return resolveTargets(selectors, { accounts, workspaces, reached, workspaceId, caller: call.caller });
}
