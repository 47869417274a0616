import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secrets } from '../../infra/config/secrets.ts';
import { openDatabase } from '../../infra/db/database.ts';
import { migrate } from '../../infra/db/migrate.ts';
import { apiKey, organization } from '../support/factories.ts';
import { Process } from '../support/process.ts';
import { freePort, startPostgres } from '../support/servers.ts';
import { benchBulk } from './bulk.ts';
import { ask, msPer } from './reads-client.ts';
import { seedPosts, type Seeded } from './reads-seed.ts';
import { median } from './stats.ts';

/*
 * npm run bench -- --reads [--rounds 5]
 * The same reads on few and on many posts, each beside a bare handler that runs the same statements; in turns, in one run.
 */

const SIZES = [1_000, 1_000_000] as const;
const REQUESTS = 60;
const CONCURRENCY = 4;

interface Options {
  rounds: number;
  say(text: string): void;
}

interface Side {
  key: string;
  seeded: Seeded;
  productPort: number;
  barePort: number;
  stop(): Promise<unknown>;
}

type Path = (side: Side) => string | Promise<string>;

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

/** The page behind the first one, as a client comes to it. */
const second = (path: string): Path => async ({ productPort, key }) => {
  const { next_cursor: cursor } = JSON.parse(await ask({ port: productPort, path, key })) as { next_cursor: string };
  return `${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
};

const QUERIES: Record<string, Path> = {
  'posts': () => '/v1/posts',
  'posts, second page': second('/v1/posts'),
  'posts, include=targets,media': () => '/v1/posts?include=targets,media',
  'posts, 100 with targets': () => '/v1/posts?include=all&limit=100',
  'posts, status=published': () => '/v1/posts?status=published',
  'posts, status=scheduled': () => '/v1/posts?status=scheduled',
  'posts, status=partial,failed': () => '/v1/posts?status=partial,failed',
  'posts, platform=twitter': () => '/v1/posts?platform=twitter',
  'posts, account_id': ({ seeded }) => `/v1/posts?account_id=${seeded.account}`,
  'posts, account_id of few': ({ seeded }) => `/v1/posts?account_id=${seeded.rareAccount}`,
  'posts, tag_id': ({ seeded }) => `/v1/posts?tag_id=${seeded.tag}`,
  'posts, workspace_id': ({ seeded }) => `/v1/posts?workspace_id=${seeded.workspace}`,
  'posts, a month two years ago': () => `/v1/posts?from=${daysAgo(730)}&to=${daysAgo(700)}`,
  'posts, from today': () => `/v1/posts?from=${daysAgo(0)}`,
  'posts, q that some have': () => '/v1/posts?q=FAMILIAR',
  'post': ({ seeded }) => `/v1/posts/${seeded.post}`,
  'logs': () => '/v1/posts/logs',
  'logs, second page': second('/v1/posts/logs'),
  'logs, status=failed': () => '/v1/posts/logs?status=failed',
  'logs, account_id': ({ seeded }) => `/v1/posts/logs?account_id=${seeded.account}`,
  'logs of a post': ({ seeded }) => `/v1/posts/${seeded.post}/logs`,
};

/** Finds nothing, so it looks at every post there is: shown for what it is, and not held to anything but the time limit. */
const UNBOUNDED: Record<string, Path> = { 'posts, q that none has': () => '/v1/posts?q=nowhere%20to%20be%20found' };

export async function benchReads(options: Options): Promise<void> {
  const { say } = options;
  const folder = await mkdtemp(join(tmpdir(), 'oncepost-reads-'));
  const sides: Side[] = [];
  try {
    for (const posts of SIZES) sides.push(await prepare(join(folder, String(posts)), posts, say));
    await compare(sides as [Side, Side], options);
    const [few] = sides as [Side];
    await benchBulk({ ...few, account: few.seeded.twitter }, options);
  } finally {
    await Promise.allSettled(sides.map((side) => side.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare([few, many]: [Side, Side], { say, rounds }: Options): Promise<void> {
  say(`\nms per request, ${CONCURRENCY} at once, median of ${rounds} rounds; × = ${SIZES[1].toLocaleString('en')} posts against ${SIZES[0].toLocaleString('en')}; ratio = bare handler against product, same statements\n`);
  say(`${'read'.padEnd(32)}${['few', 'many', '×', 'bare few', 'bare many', 'ratio few', 'ratio many'].map((one) => one.padStart(11)).join('')}`);
  // A process that has just begun is not what is measured.
  for (const path of Object.values(QUERIES)) await inTurns([few, many], path, { rounds: 2, requests: REQUESTS });
  for (const [name, path] of Object.entries({ ...QUERIES, ...UNBOUNDED })) {
    const requests = name in UNBOUNDED ? 4 : REQUESTS;
    const [ofFew, ofMany] = await inTurns([few, many], path, { rounds, requests });
    const cells = [ofFew!.product, ofMany!.product, ofMany!.product / ofFew!.product, ofFew!.bare, ofMany!.bare, ofFew!.bare / ofFew!.product, ofMany!.bare / ofMany!.product];
    say(`${name.padEnd(32)}${cells.map((one) => one.toFixed(2).padStart(11)).join('')}`);
  }
}

/** Each side's product and bare handler, one after another, again and again, so that a load that comes and goes favours nobody. */
async function inTurns(sides: Side[], path: Path, { rounds, requests }: { rounds: number; requests: number }): Promise<{ product: number; bare: number }[]> {
  const asks = await Promise.all(sides.map(async (side) => {
    const target = await path(side);
    await ask({ port: side.barePort, path: target, key: side.key, method: 'POST' });
    return { product: { port: side.productPort, path: target, key: side.key }, bare: { port: side.barePort, path: target, key: side.key } };
  }));
  const times = sides.map(() => ({ product: [] as number[], bare: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    for (const [at, one] of asks.entries()) {
      for (const kind of round % 2 === 0 ? (['product', 'bare'] as const) : (['bare', 'product'] as const)) {
        const ms = await msPer(one[kind], requests, CONCURRENCY);
        if (round > 0) times[at]![kind].push(ms);
      }
    }
  }
  return times.map(({ product, bare }) => ({ product: median(product), bare: median(bare) }));
}

/** A cluster of its own with so many posts, and a process that serves them. */
async function prepare(dataDir: string, posts: number, say: (text: string) => void): Promise<Side> {
  const postgres = await startPostgres({ dataDir });
  const { url } = postgres;
  await migrate(url);
  const ring = () => `k1:${randomBytes(32).toString('base64')}`;
  const env = {
    PATH: process.env.PATH, NODE_ENV: 'production', LOG_LEVEL: 'warn', DATABASE_URL: url, SANDBOX_SECRET: 'none', TEMPORAL_ADDRESS: '127.0.0.1:9',
    ONCEPOST_PEPPERS: ring(), ONCEPOST_ENCRYPTION_KEYS: ring(), ONCEPOST_CURSOR_KEYS: ring(),
  };
  const db = await openDatabase({ url, pool: 1 });
  const store = { db, secrets: new Secrets(env) };
  const startedAt = performance.now();
  const { id: organizationId } = await organization(store);
  const seeded = await seedPosts(db, organizationId, posts);
  const { secret: key } = await apiKey(store, { organizationId });
  await db.em.getConnection().execute('set role oncepost_owner; set statement_timeout = 0');
  for (const table of ['post', 'target', 'operation', 'post_tag', 'account', 'api_key']) await db.em.getConnection().execute(`vacuum analyze ${table}`);
  await db.close(true);
  say(`${posts.toLocaleString('en')} posts seeded in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  return { key, seeded, ...(await serve(env, () => postgres.stop())) };
}

async function serve(env: Record<string, string | undefined>, after: () => Promise<void>): Promise<Pick<Side, 'productPort' | 'barePort' | 'stop'>> {
  const [productPort, barePort] = [await freePort(), await freePort()];
  const server = new Process('test/bench/reads-server.ts', { ...env, PRODUCT_PORT: String(productPort), BARE_PORT: String(barePort) }, async () => (await fetch(`http://127.0.0.1:${productPort}/health`).catch(() => null))?.status === 200);
  await server.start();
  return { productPort, barePort, stop: () => server.stop().finally(after) };
}
