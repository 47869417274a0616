import { createHash } from 'node:crypto';
import { encodeBody } from '../../infra/http/body.ts';
import type { Reach, Trip } from '../../infra/http/types.ts';
import { TransportFailure } from '../../infra/http/types.ts';
import type { Operation } from '../../infra/db/entities/operation.entity.ts';
import type { ProviderHttp, ProviderRequest } from '../../providers/provider.ts';
import type { ActivityDeps } from '../deps.ts';
import type { Loaded } from './load.ts';

/** Where a request of this account may go: a test account reaches the sandbox and nothing else, a live one never the sandbox. */
export function reachOf({ infra }: ActivityDeps, { account }: Pick<Loaded, 'account'>): Reach {
  if (account.mode === 'test') return { kind: 'sandbox', url: infra.config.sandbox.url };
  return typeof account.metadata.instance_url === 'string' || typeof account.metadata.pds_url === 'string' ? { kind: 'user' } : { kind: 'platform' };
}

function traceHeader(account: Loaded['account'], trace: string): Record<string, string> {
  return account.mode === 'test' ? { 'X-Oncepost-Trace': trace } : {};
}

/** The port for reads and private steps: as many requests as the step needs, each within the call's deadline. */
export function plainPort(deps: ActivityDeps, loaded: Pick<Loaded, 'account'>, trace: { operation: Pick<Operation, 'id' | 'attempt'>; step: string }): ProviderHttp {
  const { callDeadlineMs } = deps.infra.config.timing;
  return {
    async request(request) {
      const { answer } = await deps.outbound.call(request, {
        deadline: new Date(Date.now() + callDeadlineMs), reach: reachOf(deps, loaded), headers: traceHeader(loaded.account, `${trace.operation.id};${trace.step};${trace.operation.attempt}`),
      });
      return answer;
    },
  };
}

/** What a public port saw of its one request. */
export interface PublicTrip {
  token: string | null;
  trip: Trip | null;
  digest: string | null;
}

/**
 * The port for a public step: exactly one request, over a connection of its own, with the claim taken between the
 * connection and the first byte. A second request through it is an error of the adapter.
 */
export function publicPort(deps: ActivityDeps, loaded: Loaded, work: { step: string; claim: () => Promise<string | null> }): { http: ProviderHttp; seen: PublicTrip } {
  const seen: PublicTrip = { token: null, trip: null, digest: null };
  const deadline = new Date(Date.now() + deps.infra.config.timing.callDeadlineMs);
  let used = false;
  const request = async (request: ProviderRequest) => {
    if (used) throw new Error(`the adapter of ${loaded.operation.platform} sent a second request in the public step ${work.step}`);
    used = true;
    seen.digest = digestOf(request);
    const claim = async () => {
      seen.token = await work.claim();
      return seen.token !== null;
    };
    try {
      const { answer, trip } = await deps.outbound.call(request, {
        deadline, reach: reachOf(deps, loaded), fresh: { claim }, headers: traceHeader(loaded.account, `${loaded.operation.id};${work.step};${loaded.operation.attempt}`),
      });
      seen.trip = trip;
      return answer;
    } catch (error) {
      if (error instanceof TransportFailure) seen.trip = error.trip;
      throw error;
    }
  };
  return { http: { request }, seen };
}

function digestOf(request: ProviderRequest): string | null {
  const { content } = encodeBody(request);
  return Buffer.isBuffer(content) ? createHash('sha256').update(content).digest('hex') : null;
}
