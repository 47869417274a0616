import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Account } from '../../infra/db/entities/account.entity.ts';
import { inScope, tenant } from '../../infra/db/tenant.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { account, organization } from '../support/factories.ts';
import { sendingAttempt } from '../support/operations.ts';

/*
 * Everything that the tables of the contract do not name is impossible: the database itself refuses it, whoever asks.
 * The named pairs are typed from decisions-posts.md 12.12 and decisions-operations.md 23.2; unpublish and the reversing
 * verdict are in them, because the database knows them already.
 */
const TARGETS = ['draft', 'scheduled', 'publishing', 'published', 'failed'];
const TARGET_PAIRS = [
  'draft → scheduled', 'draft → publishing',
  'scheduled → draft', 'scheduled → publishing', 'scheduled → failed',
  'publishing → published', 'publishing → failed', 'publishing → draft',
  'published → draft', 'published → failed',
  'failed → publishing', 'failed → published',
];

const SETTLED = ['succeeded by answer', 'succeeded by late_answer', 'succeeded by probe', 'succeeded by verdict', 'failed by answer', 'failed by late_answer', 'failed by probe', 'failed by service', 'failed by verdict'];
const OPERATIONS = ['pending', 'sending', 'unknown', ...SETTLED];
const OPERATION_PAIRS = [
  'pending → sending', 'pending → failed by answer', 'pending → failed by service',
  'sending → pending', 'sending → unknown', 'sending → succeeded by answer', 'sending → failed by answer',
  'unknown → succeeded by late_answer', 'unknown → failed by late_answer', 'unknown → succeeded by probe', 'unknown → failed by probe', 'unknown → succeeded by verdict', 'unknown → failed by verdict',
  // What a person decided gives way to proof, and once to another person.
  'failed by verdict → succeeded by late_answer', 'failed by verdict → succeeded by probe', 'failed by verdict → succeeded by verdict', 'succeeded by verdict → failed by verdict',
];

const status = (state: string) => state.split(' ')[0]!;
/** By status alone: what settles an operation is not a matter of the database, except that only a verdict can be undone. */
const namedByStatus = new Set(OPERATION_PAIRS.map((pair) => {
  const [from, to] = pair.split(' → ') as [string, string];
  return `${SETTLED.includes(from) ? from : status(from)} → ${status(to)}`;
}));
const pairs = (states: string[]) => states.flatMap((from) => states.filter((to) => status(to) !== status(from)).map((to) => [from, to] as const));

let api: TestApi;
let owner: Account;
let ids: { target: string; operation: string };

beforeAll(async () => {
  api = await startApi();
  const { id } = await organization(api.infra);
  owner = await account(api.infra, { organizationId: id });
  const { target, operation } = await sendingAttempt(api.infra, { account: owner });
  ids = { target: target.id, operation: operation.id };
}, 60_000);
afterAll(() => api.close());

class Undone extends Error {}

/** Tries the change in the tenant's own role, on a copy of a row that is born in the state from which it starts, and undoes both. */
async function isRefused(table: 'target' | 'operation', from: string, to: string): Promise<boolean> {
  try {
    await inScope(api.infra.db, tenant(owner), async (tx) => {
      const born = JSON.stringify({ id: 'copy', post_id: 'other', subject_id: 'other', object_key: 'other', ...columns(table, from) });
      await tx.execute(`insert into ${table} select (jsonb_populate_record(original, ?::jsonb)).* from ${table} original where id = ?`, [born, ids[table]]);
      const after = Object.entries(columns(table, to));
      await tx.execute(`update ${table} set ${after.map(([name]) => `${name} = ?`).join(', ')} where id = 'copy'`, after.map(([, value]) => value));
      throw new Undone();
    });
  } catch (error) {
    if (error instanceof Undone) return false;
    expect(String(error)).toMatch(/cannot go from|is final/);
    return true;
  }
  throw new Error('the transaction was committed');
}

function columns(table: string, state: string): Record<string, string | null> {
  if (table === 'target') return { status: state };
  const isClaimed = status(state) === 'sending';
  return { status: status(state), settled_by: state.split(' by ')[1] ?? null, claim_token: isClaimed ? 'token' : null, claim_deadline: isClaimed ? new Date().toISOString() : null };
}

describe('a target', () => {
  test.each(pairs(TARGETS))('%s → %s', async (from, to) => {
    expect(await isRefused('target', from, to)).toBe(!TARGET_PAIRS.includes(`${from} → ${to}`));
  });

  test('a status outside the five does not exist', async () => {
    await expect(inScope(api.infra.db, tenant(owner), (tx) => tx.execute(`update target set status = 'partial' where id = ?`, [ids.target]))).rejects.toThrow();
  });
});

describe('an operation', () => {
  test.each(pairs(OPERATIONS))('%s → %s', async (from, to) => {
    expect(await isRefused('operation', from, to)).toBe(!namedByStatus.has(`${SETTLED.includes(from) ? from : status(from)} → ${status(to)}`));
  });
});
