import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { ROUTES } from '../../../api/routes.ts';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import { OperationEntity } from '../../../infra/db/entities/operation.entity.ts';
import type { Organization } from '../../../infra/db/entities/organization.entity.ts';
import { OutboxEntity, type OutboxRow } from '../../../infra/db/entities/outbox.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { claim } from '../../../infra/ledger/claim.ts';
import { settle } from '../../../infra/ledger/settle.ts';
import type { Ruling } from '../../../infra/ledger/settlement.ts';
import { startApi, type Answer, type ApiOptions, type TestApi } from '../../support/api.ts';
import { account, apiKey, organization } from '../../support/factories.ts';

export { codeOf } from '../../support/api.ts';

/** An API with an organization, a test key and a sandbox account on each platform. No worker runs: tests say what the platform did. */
export interface World {
  api: TestApi;
  org: Organization;
  key: string;
  twitter: Account;
  mastodon: Account;
  send(method: string, path: string, body?: unknown, options?: { key?: string; headers?: Record<string, string> }): Promise<Answer>;
  post(body: Record<string, unknown>, options?: { key?: string; headers?: Record<string, string> }): Promise<Answer>;
  /** A post that must be accepted; that many tests publish the same text is meant. */
  accepted(body: Record<string, unknown>): Promise<any>;
  close(): Promise<void>;
}

export async function openWorld(options: Pick<ApiOptions, 'clock'> = {}): Promise<World> {
  const temporal = await silentServer();
  const api = await startApi({ ...options, routes: ROUTES, env: { TEMPORAL_ADDRESS: `127.0.0.1:${(temporal.address() as AddressInfo).port}` } });
  const org = await organization(api.infra);
  const key = (await apiKey(api.infra, { organizationId: org.id })).secret;
  const twitter = await account(api.infra, { organizationId: org.id, platform: 'twitter' });
  const mastodon = await account(api.infra, { organizationId: org.id, platform: 'mastodon' });
  const send: World['send'] = (method, path, body, options = {}) => api.send(method, path, { key: options.key ?? key, headers: options.headers ?? {}, ...(body === undefined ? {} : { body }) });
  const post: World['post'] = (body, options) => send('POST', '/v1/posts', body, options);
  return {
    api, org, key, twitter, mastodon, send, post,
    async accepted(body) {
      const answer = await post({ allow_duplicate: true, ...body });
      if (answer.status !== 201) throw new Error(`not accepted: ${answer.status} ${answer.text}`);
      return answer.body;
    },
    async close() {
      await api.close();
      temporal.close();
    },
  };
}

/** Where Temporal would be: takes connections and says nothing, so that the outbox alone carries what was accepted. */
function silentServer(): Promise<Server> {
  const server = createServer((socket) => void socket.on('error', () => {}).unref()).unref();
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

type Outcome = 'published' | 'refused' | 'unknown';

const RULINGS: Record<Outcome, Ruling> = {
  published: { kind: 'succeeded', proof: { platformPostId: '4711', url: 'https://platform.example/4711' } },
  refused: { kind: 'failed', error: { code: 'PROVIDER_REJECTED', platformMessage: 'no' } },
  unknown: { kind: 'unknown', error: { code: 'PROVIDER_OUTCOME_UNKNOWN' }, probing: 'unavailable', nextProbeAt: null },
};

/** What a worker would have found out about a target's open operation. */
export async function carriedOut(world: World, operationId: string, outcome: Outcome): Promise<void> {
  const { db } = world.api.infra;
  const operation = await inScope(db, SYSTEM, (tx) => tx.findOneOrFail(OperationEntity, { id: operationId }));
  const now = new Date();
  const plan = [{ name: 'publish', effect: 'public_unkeyed', required: true }] as const;
  const token = await claim(db, { operation, step: 'publish', plan, done: new Map(), now, deadline: new Date(now.getTime() + 60_000), pace: null });
  if (token === null) throw new Error('the claim was not free');
  await inScope(db, SYSTEM, (tx) => settle(tx, { operationId, by: { kind: 'sender', token }, ruling: RULINGS[outcome], now }, { activityTimeoutMs: 1_000 }));
}

export function targetOf(post: any, accountId: string): any {
  return post.targets[accountId].accounts[0];
}

export function statuses(post: any): string[] {
  return Object.values<any>(post.targets).map((target) => target.status);
}

export async function outboxOf(world: World, postId: string): Promise<OutboxRow[]> {
  return inScope(world.api.infra.db, SYSTEM, (tx) => tx.find(OutboxEntity, { workflowId: { $like: `post/${postId}/%` } }, { orderBy: { id: 'asc' } }));
}

export function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString();
}
