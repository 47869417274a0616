import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Caller } from '../support/caller.ts';
import { System, type Tenant } from '../support/system.ts';
import { until } from '../support/until.ts';

/*
 * The truth to expect, typed from the contract: for each magic word the final state of the target and how many times
 * the sandbox was made to publish. `passes: unknown` = the outcome was unknown on the way there.
 */
interface Row {
  words: string;
  state: string;
  ledger: number;
  passes?: 'unknown';
}

const AFTER = ['500-after', 'drop-after', 'hang', 'truncate', 'garble', 'huge', 'no-id'];
const BEFORE = ['500-before', '503-before', 'drop-before', 'drop-midway', 'hang-before', 'redirect'];
const UNKNOWN = 'failed PROVIDER_OUTCOME_UNKNOWN';

const rows = (names: string[], row: Omit<Row, 'words'>, suffix = ''): Row[] => names.map((name) => ({ words: `[[sandbox:${name}]]${suffix}`, ...row }));
const hidden = (ledger: { after: number; before: number }): Row[] => [
  ...rows(AFTER, { state: UNKNOWN, ledger: ledger.after, passes: 'unknown' }, ' [[sandbox:hide-listing]]'),
  ...rows(BEFORE, { state: UNKNOWN, ledger: ledger.before, passes: 'unknown' }, ' [[sandbox:hide-listing]]'),
];

const EVERYWHERE: Row[] = [
  { words: '', state: 'published', ledger: 1 },
  { words: '[[sandbox:refuse]]', state: 'failed CONTENT_REJECTED', ledger: 0 },
  { words: '[[sandbox:refuse=too-long]]', state: 'failed CONTENT_TOO_LONG', ledger: 0 },
  { words: '[[sandbox:refuse=permission]]', state: 'failed PERMISSION_MISSING', ledger: 0 },
  { words: '[[sandbox:refuse=restricted]]', state: 'failed ACCOUNT_RESTRICTED', ledger: 0 },
  { words: '[[sandbox:expired]]', state: 'published', ledger: 1 },
  { words: '[[sandbox:rate-limit=1]]', state: 'published', ledger: 1 },
  { words: '[[sandbox:late=1]]', state: 'published', ledger: 1 },
  { words: 'sandbox:late=1', state: 'published', ledger: 1 },
  { words: '[[sandbox:bluesky:refuse]]', state: 'published', ledger: 1 },
];

const TABLE: Record<string, Row[]> = {
  twitter: [
    ...EVERYWHERE,
    { words: '[[sandbox:duplicate]]', state: 'failed DUPLICATE_CONTENT', ledger: 0 },
    ...rows(AFTER, { state: 'published', ledger: 1, passes: 'unknown' }),
    ...rows(BEFORE, { state: 'failed PROVIDER_PROVED_ABSENT', ledger: 0, passes: 'unknown' }),
    ...hidden({ after: 1, before: 0 }),
  ],
  mastodon: [
    ...EVERYWHERE,
    { words: '[[sandbox:duplicate]]', state: 'failed CONTENT_REJECTED', ledger: 0 },
    ...rows(AFTER, { state: 'published', ledger: 1 }),
    ...rows(BEFORE, { state: 'published', ledger: 1 }),
    ...hidden({ after: 1, before: 0 }),
  ],
  'mastodon without keys': [
    ...EVERYWHERE,
    ...rows(AFTER, { state: 'published', ledger: 1, passes: 'unknown' }),
    ...rows(BEFORE, { state: UNKNOWN, ledger: 0, passes: 'unknown' }),
    ...hidden({ after: 1, before: 0 }),
  ],
};

interface Group {
  tenant: Tenant;
  account: Tenant['accounts'][string];
  caller: Caller;
}

interface Run {
  seen: Row[];
  /** Where outcomes stay unknown, because the platform cannot be read. */
  unreadable: Group;
}

let system: System;
/** The three run side by side: most of their time is waiting for reads of the platform. */
const runs = new Map<string, Promise<Run>>();

beforeAll(async () => {
  system = await System.start();
  for (const name of Object.keys(TABLE)) {
    const run = runOf(name);
    run.catch(() => {});
    runs.set(name, run);
  }
}, 120_000);

afterAll(async () => {
  await system?.stop();
});

async function groupOf(name: string): Promise<Group> {
  const tenant = await system.tenant();
  const caller = new Caller(system.baseUrl, tenant.testKey);
  const account = tenant.accounts[name.split(' ')[0]!]!;
  if (name.endsWith('without keys')) expect((await caller.patch(`/v1/accounts/${account.id}`, { sandbox_behaviour: 'ignores_idempotency' })).status).toBe(200);
  return { tenant, caller, account };
}

async function runOf(name: string): Promise<Run> {
  // One hidden object hides the whole listing, so those cases have an account of their own.
  const visible = await groupOf(name);
  const unreadable = await groupOf(name);
  const seen = await Promise.all(TABLE[name]!.map((row, i) => play(row, i, row.words.includes('hide-listing') ? unreadable : visible)));
  return { seen, unreadable };
}

async function play(row: Row, i: number, { account, caller }: Group): Promise<Row> {
  const post = await caller.publish({ targets: [account.id], content: `case ${i} ${row.words}` });
  const read = async () => (await caller.get(`/v1/posts/${post.id}`)).body;
  const settled = await until(`${row.words} → ${row.state}`, async () => {
    const body = await read();
    return Caller.state(body, account.id) === row.state ? body : null;
  }, 150_000).catch(read);
  const operation = (await caller.get(`/v1/operations/${settled.targets[account.id].accounts[0].operation_id}`)).body;
  const ledger = await caller.ledger({ post_id: post.id });
  return { words: row.words, state: Caller.state(settled, account.id), ledger: ledger.length, ...(operation.unknown_since === null ? {} : { passes: 'unknown' as const }) };
}

describe.each(Object.keys(TABLE))('%s', (name) => {
  test('every magic word ends in the truth, and publishes at most once', async () => {
    expect((await runs.get(name)!).seen).toEqual(TABLE[name]!);
  }, 240_000);

  test('what stays unknown takes a verdict, and nothing else', async () => {
    const { caller } = (await runs.get(name)!).unreadable;
    const { body: page } = await caller.get('/v1/operations?status=unknown&limit=100');
    const [first, second] = page.data;
    const post = (await caller.get(`/v1/posts/${first.post_id}`)).body;
    expect((await caller.post(`/v1/posts/${post.id}/retry`)).body.error.code).toBe('PROVIDER_OUTCOME_UNKNOWN');
    const no = await caller.post(`/v1/operations/${first.id}/verdict`, { outcome: 'not_published', reason: 'looked at the page', expected_revision: first.revision });
    expect([no.status, no.body.status, no.body.settled_by, no.body.error.code]).toEqual([200, 'failed', 'verdict', 'VERDICT_DID_NOT_HAPPEN']);
    const yes = await caller.post(`/v1/operations/${second.id}/verdict`, { outcome: 'published', platform_post_id: '12345', reason: 'seen on the page', expected_revision: second.revision });
    expect([yes.status, yes.body.status, yes.body.settled_by, yes.body.result.platform_post_id]).toEqual([200, 'succeeded', 'verdict', '12345']);
    expect((await caller.post(`/v1/posts/${post.id}/retry`)).status).toBe(200);
    // The retry is a new attempt that a person asked for; the word has acted once, so it goes through.
    expect((await caller.ended(post.id)).status).toBe('published');
  }, 60_000);

  test('a limit that never ends keeps the target publishing, and says what it waits for', async () => {
    const { account, caller } = await groupOf(name);
    const post = await caller.publish({ targets: [account.id], content: '[[sandbox:rate-limit-always=600]]' });
    const waiting = await until('the target waits', async () => {
      const { body } = await caller.get(`/v1/posts/${post.id}`);
      return body.targets[account.id].accounts[0].waiting_for === 'provider_wait' ? body : null;
    });
    expect(waiting.status).toBe('publishing');
    expect(await caller.ledger({ post_id: post.id })).toEqual([]);
    expect((await caller.delete(`/v1/posts/${post.id}`)).status).toBe(204);
  }, 60_000);
});
