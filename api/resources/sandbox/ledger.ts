import { ApiError } from '../../../infra/contract/errors.ts';
import { findAccount } from '../../../infra/db/repositories/accounts.ts';
import { sandboxAdmin } from '../../../infra/sandbox-admin.ts';
import { pageReply } from '../../page.ts';
import type { Call, Reply } from '../../route.ts';
import { assertWorkspaceAccess } from '../../workspace-access.ts';
import type { LedgerRow, ObjectRow } from './admin-types.ts';
import { ask } from './ask.ts';
import { findDoubles, knownOperations } from './doubles.ts';
import { sandboxFilter } from './filter.ts';
import { presentEntry, presentObject } from './sandbox.present.ts';
import { scan } from './scan.ts';

/** GET /v1/sandbox/ledger: what became public, oldest first. */
export async function listLedger(call: Call): Promise<Reply> {
  const filter = await sandboxFilter(call);
  const rows = filter === null ? [] : await scan<LedgerRow>(call, {
    filter, after: call.window!.after?.id ?? null, timeOf: (row) => row.at,
    async next(query) {
      const page = await ask<{ entries: LedgerRow[]; next: number | null }>(call.infra, '/ledger', query);
      return { rows: page.entries, next: page.next === null ? null : String(page.next) };
    },
  });
  return pageReply(call, { rows, position: (row) => ({ at: new Date(row.at), id: String(row.ordinal) }), present: (entries) => show(call, entries) });
}

/** GET /v1/sandbox/ledger/{id} */
export async function readEntry(call: Call): Promise<Reply> {
  const query = new URLSearchParams({ organization_id: call.caller.organizationId });
  const entry = await sandboxAdmin(call.infra).read<LedgerRow>(`/ledger/${encodeURIComponent(call.params.id!)}?${query.toString()}`);
  if (entry === null) throw new ApiError('NOT_FOUND', 'There is no such entry in the ledger of the sandbox.', { details: { resource: 'sandbox_entry' } });
  assertWorkspaceAccess(call.caller, (await findAccount(call.tx, entry.account_id))?.workspace?.id ?? null);
  const [body] = await show(call, [entry]);
  return { status: 200, body };
}

/** GET /v1/sandbox/objects: what is public now, oldest first. */
export async function listObjects(call: Call): Promise<Reply> {
  const filter = await sandboxFilter(call);
  const { after } = call.window!;
  const rows = filter === null ? [] : await scan<ObjectRow>(call, {
    filter, after: after === null ? null : `${after.at.getTime()}.${after.id}`, timeOf: (row) => row.created_at,
    async next(query) {
      const page = await ask<{ objects: ObjectRow[]; next: string | null }>(call.infra, '/objects', query);
      return { rows: page.objects, next: page.next };
    },
  });
  return pageReply(call, { rows, position: (row) => ({ at: new Date(row.created_at), id: `${row.platform}.${row.object_id}` }), present: (objects) => objects.map(presentObject) });
}

async function show(call: Call, entries: LedgerRow[]): Promise<Record<string, unknown>[]> {
  const operations = await knownOperations(call, entries.flatMap((entry) => entry.operation_id ?? []));
  const doubles = await findDoubles(call, entries, operations);
  return entries.map((entry) => presentEntry(entry, { operation: operations.get(entry.operation_id ?? ''), isDouble: doubles.has(entry.id) }));
}
