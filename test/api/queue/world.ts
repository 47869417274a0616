import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { queueRoutes } from '../../../api/resources/queue/queue.routes.ts';
import type { AnyRoute } from '../../../api/route.ts';
import { newId } from '../../../infra/contract/ids.ts';
import type { Tx } from '../../../infra/db/database.ts';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import { NO_TEXT, PostEntity, type Post } from '../../../infra/db/entities/post.entity.ts';
import { TargetEntity, type Target } from '../../../infra/db/entities/target.entity.ts';
import { add } from '../../../infra/db/rows.ts';
import { inScope, tenant } from '../../../infra/db/tenant.ts';
import { startApi, type Answer, type TestApi } from '../../support/api.ts';
import { apiKey, organization, type TestKey } from '../../support/factories.ts';

export { codeOf } from '../../support/api.ts';

/** An API that knows the queue, and what a test names besides. */
export interface QueueWorld {
  api: TestApi;
  close(): Promise<void>;
  /** An organization of its own, so that tests do not meet. */
  home(): Promise<Home>;
}

export interface Home {
  organizationId: string;
  key: TestKey;
  send(method: string, path: string, body?: unknown, key?: string): Promise<Answer>;
  /** A schedule that must be accepted. */
  schedule(body: Record<string, unknown>): Promise<any>;
}

async function openQueueWorld(more: readonly AnyRoute[]): Promise<QueueWorld> {
  const api = await startApi({ routes: [...queueRoutes, ...more] });
  return {
    api,
    close: () => api.close(),
    async home() {
      const { id: organizationId } = await organization(api.infra);
      const key = await apiKey(api.infra, { organizationId });
      const send: Home['send'] = (method, path, body, secret = key.secret) => api.send(method, path, { key: secret, ...(body === undefined ? {} : { body }) });
      return {
        organizationId, key, send,
        async schedule(body) {
          const answer = await send('POST', '/v1/queue/slots', body);
          if (answer.status !== 201) throw new Error(`not accepted: ${answer.status} ${answer.text}`);
          return answer.body;
        },
      };
    },
  };
}

/** A world for the tests of a file, and for each of them an organization of its own. */
export function useQueueWorld(take: (world: QueueWorld, home: Home) => void, more: readonly AnyRoute[] = []): void {
  let world: QueueWorld | undefined;
  beforeAll(async () => {
    world = await openQueueWorld(more);
    // Hooks of a describe may look at it before the first test.
    take(world, await world.home());
  }, 60_000);
  beforeEach(async () => take(world!, await world!.home()));
  afterAll(() => world?.close());
}

type Placed = { account: Account; at: Date; workspaceId?: string | null; post?: Partial<Post>; target?: Partial<Target> };

/** A post with one target in this transaction, scheduled unless the test says otherwise. */
export function addPlaced(tx: Tx, { account, at, workspaceId = account.workspaceId ?? null, post = {}, target = {} }: Placed): Post {
  const common = { organizationId: account.organizationId, mode: account.mode, createdAt: new Date(), updatedAt: new Date() };
  const row = add(tx, PostEntity, {
    id: newId('post'), ...common, workspaceId, workspaceGiven: false, status: 'scheduled', content: 'Hello', textSource: NO_TEXT, skipSignature: false, shortenUrls: false,
    timezone: 'UTC', scheduledAt: at, maxLatenessSeconds: 86_400, onLate: 'hold', revision: 1, seq: 1, eventSeq: 0, createdBy: { type: 'system', id: null }, ...post,
  });
  add(tx, TargetEntity, { id: newId('target'), ...common, postId: row.id, accountId: account.id, platform: account.platform, byId: true, position: 0, status: 'scheduled', attempt: 0, options: {}, media: [], warnings: [], ...target });
  return row;
}

export async function placed(world: QueueWorld, options: Placed): Promise<Post> {
  return inScope(world.api.infra.db, tenant(options.account), async (tx) => addPlaced(tx, options));
}
