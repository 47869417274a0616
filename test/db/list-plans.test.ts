import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { postRoutes } from '../../api/resources/posts/posts.routes.ts';
import { inScope, tenant } from '../../infra/db/tenant.ts';
import { recorderOf, type Recorder } from '../bench/reads-recorder.ts';
import { seedPosts, type Seeded } from '../bench/reads-seed.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { apiKey, organization } from '../support/factories.ts';

/* What PostgreSQL does for a list, by the shape of its plans: a whole table is read for no page, however many posts there are. */

const POSTS = 20_000;

let api: TestApi;
let seeded: Seeded;
let key: string;
let recorder: Recorder;

beforeAll(async () => {
  api = await startApi({ routes: postRoutes });
  const { infra } = api;
  const { id: organizationId } = await organization(infra);
  seeded = await seedPosts(infra.db, organizationId, POSTS);
  key = (await apiKey(infra, { organizationId })).secret;
  const connection = infra.db.em.getConnection();
  for (const table of ['post', 'target', 'post_tag', 'operation']) await connection.execute(`set role oncepost_owner; analyze ${table}; reset role`);
  recorder = await recorderOf(infra.db);
}, 120_000);
afterAll(() => api.close());

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The plans of what a request reads, made in the tenant's scope, where row-level security keeps some conditions out of indexes. */
async function plansOf(path: string): Promise<Plan[][]> {
  const statements = await recorder.record(path, async () => expect((await api.send('GET', path, { key })).status).toBe(200));
  const reads = statements.filter((text) => /^\(?select/.test(text) && !text.startsWith('select set_config'));
  return inScope(api.infra.db, tenant({ organizationId: seeded.organizationId, mode: 'test' }), async (tx) => {
    const plans: Plan[][] = [];
    for (const read of reads) {
      const [row] = await tx.execute<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(`explain (format json) ${read}`);
      plans.push(nodesOf(row!['QUERY PLAN'][0]!.Plan));
    }
    return plans;
  });
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const PATHS: [string, (() => string) | string][] = [
  ['the list', '/v1/posts'],
  ['with targets and media', '/v1/posts?include=all'],
  ['by status', '/v1/posts?status=scheduled'],
  ['by several statuses', '/v1/posts?status=partial,failed'],
  ['by platform', '/v1/posts?platform=twitter'],
  ['by account', () => `/v1/posts?account_id=${seeded.account}`],
  ['by an account with few posts', () => `/v1/posts?account_id=${seeded.rareAccount}`],
  ['by tag', () => `/v1/posts?tag_id=${seeded.tag}`],
  ['by tag, account and status', () => `/v1/posts?tag_id=${seeded.tag}&account_id=${seeded.account}&status=published`],
  ['by workspace', () => `/v1/posts?workspace_id=${seeded.workspace}`],
  ['a range', `/v1/posts?from=${daysAgo(700)}&to=${daysAgo(690)}`],
  ['one post', () => `/v1/posts/${seeded.post}`],
  ['the log', '/v1/posts/logs'],
  ['the log of an account', () => `/v1/posts/logs?account_id=${seeded.account}`],
  ['the log of a post', () => `/v1/posts/${seeded.post}/logs`],
];

test.each(PATHS)('%s: neither posts nor targets are read from end to end', async (_name, path) => {
  const plans = await plansOf(typeof path === 'string' ? path : path());
  expect(plans.length).toBeGreaterThan(0);
  const scans = plans.flat().filter((node) => node['Node Type'] === 'Seq Scan' && ['post', 'target'].includes(node['Relation Name'] ?? ''));
  expect(scans).toEqual([]);
});

test.each(['', '&status=published', '&platform=twitter'])('a later page begins at its cursor: %s', async (filter) => {
  const { next_cursor: cursor } = (await api.send('GET', `/v1/posts?limit=2${filter}`, { key })).body;
  const [page] = await plansOf(`/v1/posts?limit=2${filter}&cursor=${cursor}`);
  expect(page!.flatMap((node) => node['Index Cond'] ?? [])).toContainEqual(expect.stringMatching(/ROW\(.*listed_at.*\) < ROW\(/));
});
