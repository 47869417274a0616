import { ApiError } from '../../../../infra/contract/errors.ts';
import { CSV_TARGETS_MAX, TARGETS_MAX } from '../../../../infra/contract/limits.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import { findSelectedAccounts } from '../../../../infra/db/repositories/targets.ts';
import type { Call } from '../../../route.ts';
import { mayAccess } from '../../../workspace-access.ts';

/** What a row is aimed at: accounts by their ids, and platforms and workspaces with whatever accounts they have. */
interface Aim {
  named: number;
  wide: ReadonlySet<string>;
  workspaceId: string | null;
}

/**
 * All rows are stored in one transaction, which ends with nothing after its time. A file that needs longer would fail each
 * time it is sent, so it is refused before its first row. An account that a row reaches twice counts twice.
 */
export async function refuseWideFile(call: Call, bodies: readonly Record<string, unknown>[]): Promise<void> {
  const aims = bodies.map(aimOf);
  const accounts = await accountsOf(call, new Set(aims.flatMap(({ wide }) => [...wide])));
  const targets = aims.reduce((sum, aim) => sum + reachOf(aim, accounts), 0);
  if (targets <= CSV_TARGETS_MAX) return;
  throw new ApiError('CSV_TOO_MANY_ROWS', `The rows reach ${targets} accounts, each row's counted, and one file may reach ${CSV_TARGETS_MAX}. Send it in parts.`, { details: { limit: CSV_TARGETS_MAX, targets } });
}

function aimOf({ targets, workspace_id }: Record<string, unknown>): Aim {
  const selectors = new Set(targets as string[]);
  const wide = new Set([...selectors].filter((selector) => !selector.startsWith('acc_')));
  return { named: selectors.size - wide.size, wide, workspaceId: typeof workspace_id === 'string' ? workspace_id : null };
}

async function accountsOf({ tx, caller }: Call, wide: ReadonlySet<string>): Promise<Account[]> {
  const accounts = await findSelectedAccounts(tx, [...wide], { workspaceId: null, scope: caller.workspaceScope });
  return accounts.filter((account) => mayAccess(caller, account.workspaceId ?? null));
}

/** A post that reaches more than it may is refused by itself. */
function reachOf({ named, wide, workspaceId }: Aim, accounts: readonly Account[]): number {
  const reached = wide.size === 0 ? [] : accounts.filter((account) => {
    const of = account.workspaceId ?? null;
    return (of !== null && wide.has(of)) || (wide.has(account.platform) && (workspaceId === null || of === null || of === workspaceId));
  });
  return Math.min(named + reached.length, TARGETS_MAX);
}
