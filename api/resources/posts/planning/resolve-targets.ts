import { ApiError } from '../../../../infra/contract/errors.ts';
import { TARGETS_MAX } from '../../../../infra/contract/limits.ts';
import { isPlatform } from '../../../../infra/contract/platforms.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { Workspace } from '../../../../infra/db/entities/workspace.entity.ts';
import type { Caller } from '../../../route.ts';
import { mayAccess } from '../../../workspace-access.ts';
import { workspaceDenied, workspaceNotActive } from './workspace-of-post.ts';

export type InnerCode = 'INVALID_TARGET' | 'ACCOUNT_NOT_FOUND' | 'WORKSPACE_NOT_FOUND' | 'NO_ACCOUNT' | 'EMPTY_WORKSPACE' | 'TOO_MANY_TARGETS';

export interface ResolvedTarget {
  account: Account;
  /** Named by its id, not only reached through a platform or a workspace. */
  byId: boolean;
}

export interface Known {
  /** All accounts that any selector may mean, oldest connection first. */
  accounts: readonly Account[];
  workspaces: ReadonlyMap<string, Pick<Workspace, 'id' | 'status'>>;
  /** Ids of accounts that count as reached though their id is given. */
  reached: ReadonlySet<string>;
  /** The post's workspace where it was given. */
  workspaceId: string | null;
  caller: Caller;
}

const MESSAGES: Record<InnerCode, string> = {
  INVALID_TARGET: 'This is neither an account id, a platform name nor a workspace id.',
  ACCOUNT_NOT_FOUND: 'There is no such account for this key. List the accounts to find its id.',
  WORKSPACE_NOT_FOUND: 'There is no such workspace in this organization.',
  NO_ACCOUNT: 'No usable account of this platform is connected. Connect one, or leave the platform out.',
  EMPTY_WORKSPACE: 'This workspace has no usable account. Connect one, or leave the workspace out.',
  TOO_MANY_TARGETS: `A post reaches at most ${TARGETS_MAX} accounts. Split it into several posts.`,
};

/** A selector that leads nowhere. */
export interface Unresolved {
  target: string;
  code: InnerCode;
  message: string;
}

/** What selectors lead to, and everything that keeps some of them from it. */
export interface Resolution {
  targets: ResolvedTarget[];
  unresolved: Unresolved[];
  /** How many accounts were reached, where they are too many. */
  overflow: number | null;
  denied: (string | null | undefined)[];
  inactive: string[];
}

/** Selectors in request order to accounts; one reached twice is one target at its first place. Reads nothing. */
export function resolveTargets(selectors: readonly string[], known: Known): Resolution {
  const found = new Map<string, ResolvedTarget>();
  const bad: Unresolved[] = [];
  const denied: (string | null | undefined)[] = [];
  const inactive: string[] = [];
  let overflow: string | null = null;
  for (const selector of new Set(selectors)) {
    const hit = select(selector, known);
    if ('code' in hit) bad.push({ target: selector, code: hit.code, message: MESSAGES[hit.code] });
    else if ('denied' in hit) denied.push(hit.denied);
    else if ('inactive' in hit) inactive.push(hit.inactive);
    else add(found, hit);
    if (overflow === null && found.size > TARGETS_MAX) overflow = selector;
  }
  if (overflow !== null) bad.push({ target: overflow, code: 'TOO_MANY_TARGETS', message: MESSAGES.TOO_MANY_TARGETS });
  return { targets: [...found.values()].slice(0, TARGETS_MAX), unresolved: bad, overflow: overflow === null ? null : found.size, denied, inactive };
}

export function refuseUnresolved({ unresolved, overflow }: Resolution): void {
  if (unresolved.length > 0) throw invalidTargets(unresolved, overflow);
}

export function refuseDenied({ denied }: Pick<Resolution, 'denied'>): void {
  if (denied.length > 0) throw workspaceDenied(denied);
}

export function refuseInactive({ inactive }: Resolution): void {
  if (inactive.length > 0) throw workspaceNotActive(inactive);
}

type Hit = { accounts: Account[]; byId: boolean } | { code: InnerCode } | { denied: string | null } | { inactive: string };

function select(selector: string, known: Known): Hit {
  if (selector.startsWith('acc_')) return selectAccount(selector, known);
  if (selector.startsWith('ws_')) return selectWorkspace(selector, known);
  if (!isPlatform(selector)) return { code: 'INVALID_TARGET' };
  const accounts = usable(known).filter((account) => account.platform === selector);
  return accounts.length === 0 ? { code: 'NO_ACCOUNT' } : { accounts, byId: false };
}

function selectAccount(id: string, known: Known): Hit {
  const account = known.accounts.find((one) => one.id === id);
  if (account === undefined) return { code: 'ACCOUNT_NOT_FOUND' };
  if (!mayAccess(known.caller, account.workspaceId ?? null)) return { denied: account.workspaceId ?? null };
  if (account.workspaceId && !isActive(known, account.workspaceId)) return { inactive: account.workspaceId };
  return { accounts: [account], byId: !known.reached.has(id) };
}

function selectWorkspace(id: string, known: Known): Hit {
  if (!known.workspaces.has(id)) return { code: 'WORKSPACE_NOT_FOUND' };
  if (!mayAccess(known.caller, id)) return { denied: id };
  if (!isActive(known, id)) return { inactive: id };
  const accounts = known.accounts.filter((account) => account.workspaceId === id && canPublish(account));
  return accounts.length === 0 ? { code: 'EMPTY_WORKSPACE' } : { accounts, byId: false };
}

/** What a platform name reaches: accounts in the post's workspace or at organization level, or all that the credential may access. */
function usable(known: Known): Account[] {
  return known.accounts.filter((account) => {
    const { workspaceId } = account;
    if (!canPublish(account) || !mayAccess(known.caller, workspaceId ?? null)) return false;
    if (!workspaceId) return true;
    return isActive(known, workspaceId) && (known.workspaceId === null || workspaceId === known.workspaceId);
  });
}

function canPublish(account: Account): boolean {
  return account.status === 'active' || account.status === 'reconnect_required';
}

function isActive(known: Known, workspaceId: string): boolean {
  return known.workspaces.get(workspaceId)?.status === 'active';
}

function add(found: Map<string, ResolvedTarget>, hit: { accounts: Account[]; byId: boolean }): void {
  for (const account of hit.accounts) {
    const before = found.get(account.id);
    if (before === undefined) found.set(account.id, { account, byId: hit.byId });
    else if (hit.byId) before.byId = true;
  }
}

function invalidTargets(bad: readonly Unresolved[], count: number | null): ApiError {
  const [first] = bad;
  const message = bad.length === 1 ? `Target ${first!.target}: ${first!.message}` : `${bad.length} targets resolve to nothing. See details.targets.`;
  return new ApiError('INVALID_TARGETS', message, { details: { targets: bad, ...(count === null ? {} : { count }) } });
}
