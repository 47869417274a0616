import { PLATFORMS } from '../../../infra/contract/platforms.ts';
import type { Call, Reply } from '../../route.ts';
import type { LedgerRow, SummaryRow } from './admin-types.ts';
import { ask } from './ask.ts';
import { entriesOf, findDoubles, knownOperations, unprovenEarlier } from './doubles.ts';
import { sandboxFilter } from './filter.ts';

/** GET /v1/sandbox/ledger/summary: `doubles` is the promise of the service in one number. */
export async function summarizeLedger(call: Call): Promise<Reply> {
  const filter = await sandboxFilter(call);
  // Where nothing can match, the sandbox is still asked for the epoch: no operation has this id.
  const query = filter ?? new URLSearchParams({ organization_id: call.caller.organizationId, operation_id: 'none' });
  query.set('include', 'operation_ids');
  const summary = await ask<SummaryRow>(call.infra, '/ledger/summary', query);
  const operations = await knownOperations(call, summary.operation_ids);
  if (!query.has('epoch')) query.set('epoch', String(summary.epoch));
  const across = await doublesAcross(call, query, [...(await unprovenEarlier(call, [...operations.values()])).keys()]);
  const doublesOn = (platform: string) => (summary.by_platform[platform]?.doubles ?? 0) + across.filter((entry) => entry.platform === platform).length;
  return {
    status: 200,
    body: {
      data: {
        epoch: summary.epoch,
        entries: summary.entries,
        objects: summary.objects,
        targets: new Set([...operations.values()].flatMap((operation) => operation.target_id ?? [])).size,
        doubles: summary.doubles + across.length,
        requests: summary.requests,
        by_platform: Object.fromEntries(PLATFORMS.map((platform) => [platform, { objects: summary.by_platform[platform]?.objects ?? 0, doubles: doublesOn(platform) }])),
        oldest_at: summary.oldest_at,
        newest_at: summary.newest_at,
      },
    },
  };
}

/** Repetitions over two attempts, which the sandbox does not count. Only operations that could hold one are looked at. */
async function doublesAcross(call: Call, query: URLSearchParams, operationIds: readonly string[]): Promise<LedgerRow[]> {
  if (operationIds.length === 0) return [];
  const { include: _, ...conditions } = Object.fromEntries(query);
  const entries = (await entriesOf(call, { ...conditions, operation_id: operationIds.join(',') })).filter((entry) => !entry.double);
  const doubles = await findDoubles(call, entries, await knownOperations(call, operationIds));
  return entries.filter((entry) => doubles.has(entry.id));
}
