import type { Call } from '../../route.ts';
import type { LedgerRow } from './admin-types.ts';
import { ask } from './ask.ts';

/** An operation as the ledger's reading needs it. */
export interface KnownOperation {
  id: string;
  post_id: string | null;
  target_id: string | null;
  subject_id: string;
  kind: string;
  attempt: number;
}

const NOTHING_DONE = new Set(['request', 'foreign', 'remove']);

export async function knownOperations(call: Call, ids: readonly string[]): Promise<Map<string, KnownOperation>> {
  if (ids.length === 0) return new Map();
  const rows = await call.tx.execute<KnownOperation[]>(
    'select id, post_id, target_id, subject_id, kind, attempt from operation where id in (select jsonb_array_elements_text(?::jsonb))', [JSON.stringify([...new Set(ids)])],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Earlier attempts after which a later one needs an explanation: those that nobody has proven to have failed. A person's
 * verdict is no proof.
 */
export async function unprovenEarlier(call: Call, operations: readonly KnownOperation[]): Promise<Map<string, string[]>> {
  const later = operations.filter((one) => one.attempt > 1);
  if (later.length === 0) return new Map();
  const rows = await call.tx.execute<{ id: string; earlier_id: string }[]>(
    `select o.id, earlier.id as earlier_id from operation o
       join operation earlier on earlier.subject_id = o.subject_id and earlier.kind = o.kind and earlier.recipient = o.recipient and earlier.attempt < o.attempt
      where o.id in (select jsonb_array_elements_text(?::jsonb)) and not (earlier.status = 'failed' and earlier.settled_by <> 'verdict')`,
    [JSON.stringify(later.map((one) => one.id))],
  );
  return new Map([...Map.groupBy(rows, (row) => row.id)].map(([id, pairs]) => [id, pairs.map((pair) => pair.earlier_id)]));
}

/** Of these entries, those that repeat what an earlier attempt of the same subject did. The sandbox itself sees repetitions within one operation. */
export async function findDoubles(call: Call, entries: readonly LedgerRow[], operations: ReadonlyMap<string, KnownOperation>): Promise<Set<string>> {
  const doubles = new Set(entries.filter((entry) => entry.double).map((entry) => entry.id));
  const doing = entries.filter((entry) => !NOTHING_DONE.has(entry.kind) && entry.operation_id !== null);
  const earlier = await unprovenEarlier(call, doing.flatMap((entry) => operations.get(entry.operation_id!) ?? []));
  if (earlier.size === 0) return doubles;
  const done = await standing(call, [...new Set([...earlier.values()].flat())]);
  for (const entry of doing) {
    const before = earlier.get(entry.operation_id!) ?? [];
    const repeats = done.some((one) => before.includes(one.operation_id!) && one.step === entry.step && one.recipient === entry.recipient && one.ordinal < entry.ordinal);
    if (repeats) doubles.add(entry.id);
  }
  return doubles;
}

/** What these operations did and what was not removed since. */
async function standing(call: Call, operationIds: readonly string[]): Promise<LedgerRow[]> {
  const done = (await entriesOf(call, { operation_id: operationIds.join(',') })).filter((entry) => !NOTHING_DONE.has(entry.kind));
  const objects = [...new Set(done.flatMap((entry) => entry.object_id ?? []))];
  const removals = objects.length === 0 ? [] : await entriesOf(call, { kind: 'remove', object_id: objects.join(',') });
  const gone = new Set(removals.map((entry) => `${entry.platform} ${entry.object_id}`));
  return done.filter((entry) => !gone.has(`${entry.platform} ${entry.object_id}`));
}

/** All entries under these conditions, whatever their epoch. */
export async function entriesOf(call: Call, conditions: Record<string, string>): Promise<LedgerRow[]> {
  const found: LedgerRow[] = [];
  let after: string | null = '0';
  while (after !== null) {
    const query = new URLSearchParams({ organization_id: call.caller.organizationId, epoch: 'all', limit: '1000', ...conditions, after });
    const page: { entries: LedgerRow[]; next: number | null } = await ask(call.infra, '/ledger', query);
    found.push(...page.entries);
    after = page.next === null ? null : String(page.next);
  }
  return found;
}
