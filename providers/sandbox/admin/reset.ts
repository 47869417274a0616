import { isId } from '../../../infra/contract/ids.ts';
import { json } from '../reply.ts';
import { fault, type AdminHandler } from './admin-call.ts';
import type { Connection } from '../store/pg.ts';

/** Empties accounts and starts a new epoch. The ledger keeps its rows under their old one. All of it is one transaction. */
export const resetAccounts: AdminHandler = async ({ sandbox, body }) => {
  const { organization_id: organizationId, account_ids: wanted } = (body ?? {}) as { organization_id?: unknown; account_ids?: unknown };
  if (!isId('organization', organizationId)) return fault(400, 'organization_id is missing or malformed');
  if (wanted !== undefined && !(Array.isArray(wanted) && wanted.every((id) => isId('account', id)))) return fault(400, 'account_ids must be a list of account ids');
  const connection = await sandbox.pool.connect();
  try {
    await connection.query('begin');
    const epoch = await nextEpoch(connection, organizationId);
    const ids = await accountsOf(connection, { organizationId, wanted: wanted as string[] | undefined });
    await empty(connection, ids);
    await connection.query('commit');
    connection.release();
    for (const id of ids) {
      sandbox.accounts.forget(id);
      sandbox.limits.reset(id);
    }
    return json(200, { epoch, accounts: ids.length });
  } catch (error) {
    connection.release(true);
    throw error;
  }
};

async function nextEpoch(connection: Connection, organizationId: string): Promise<number> {
  const { rows } = await connection.query<{ epoch: number }>({
    text: 'insert into sandbox.organization (id) values ($1) on conflict (id) do update set epoch = sandbox.organization.epoch + 1 returning epoch', values: [organizationId],
  });
  return rows[0]!.epoch;
}

async function accountsOf(connection: Connection, { organizationId, wanted }: { organizationId: string; wanted: string[] | undefined }): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>({
    text: `update sandbox.account set behaviour = 'normal', behaviour_generation = generation
      where organization_id = $1 and ($2::text[] is null or id = any($2)) returning id`,
    values: [organizationId, wanted ?? null],
  });
  return rows.map((row) => row.id);
}

async function empty(connection: Connection, ids: string[]): Promise<void> {
  await connection.query({
    text: 'delete from sandbox.segment s using sandbox.media m where m.account_id = any($1) and s.platform = m.platform and s.media_id = m.media_id', values: [ids],
  });
  for (const table of ['object', 'media', 'idempotency_key', 'used_word', 'operation_words']) {
    await connection.query({ text: `delete from sandbox.${table} where account_id = any($1)`, values: [ids] });
  }
}
