import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { account, apiKey, organization } from '../../support/factories.ts';
import { until } from '../../support/until.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const rows = <T>(work: Parameters<typeof inScope<T>>[2]) => inScope(world.api.infra.db, SYSTEM, work);

async function tenant(): Promise<{ key: string; accountId: string }> {
  const { id: organizationId } = await organization(world.api.infra);
  return { key: (await apiKey(world.api.infra, { organizationId })).secret, accountId: (await account(world.api.infra, { organizationId, platform: 'mastodon' })).id };
}

const waitingForLocks = () => rows(async (tx) => Number((await tx.execute<{ count: string }[]>(`select count(*) as count from pg_locks where not granted`))[0]!.count));

test('more bulks at once than there are connections: each is carried out in its turn, and everybody else is answered', async () => {
  const [one, other, reader] = [await tenant(), await tenant(), await tenant()];
  const bulk = ({ key, accountId }: typeof one) => world.send('POST', '/v1/posts/bulk', { posts: Array.from({ length: 3 }, () => ({ targets: [accountId], scheduled_at: 'draft', content: 'x' })) }, { key });
  const pool = world.api.infra.config.databasePool;
  const { bulks, seen } = await rows(async (tx) => {
    await tx.execute('lock table target in exclusive mode');
    const sent = Array.from({ length: 2 * pool }, (_, at) => bulk(at % 2 === 0 ? one : other));
    await until('all of them have arrived, and one of each organization waits for the table', async () => world.api.lifecycle.openRequests === 2 * pool && (await waitingForLocks()) === 2);
    return { bulks: sent, seen: await world.send('GET', '/v1/posts', undefined, { key: reader.key }) };
  });
  expect(seen.status).toBe(200);
  expect((await Promise.all(bulks)).map((answer) => answer.status)).toEqual(Array(2 * pool).fill(201));
  for (const { key } of [one, other]) expect((await world.send('GET', '/v1/posts?limit=100', undefined, { key })).body.data).toHaveLength(3 * pool);
});
