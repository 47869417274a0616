import type { ActivityDeps } from '../../activities/deps.ts';
import { carryOut } from '../../activities/operations/carry-out.ts';
import type { Infra } from '../../infra/context.ts';
import type { Outbound } from '../../infra/http/outbound.ts';
import { ClaimLost } from '../../infra/http/types.ts';
import { providers } from '../../providers/registry.ts';

/**
 * Where a carrier stops for others to be faster: its connection stands and nothing is claimed; the claim is committed and
 * no byte has left; the platform has answered, or broken off, and nothing is stored.
 */
export type Stop = 'connected' | 'claimed' | 'answered';

class Died extends Error {}

/** One run of the real activity, which goes on from stop to stop as it is told. Its process can die at every one of them. */
export class Carrier {
  readonly operationId: string;
  #go: PromiseWithResolvers<void> | null = null;
  #arrived = Promise.withResolvers<Stop | 'ended'>();
  #at: Stop | 'ended' | null = null;

  constructor(deps: ActivityDeps, operationId: string) {
    this.operationId = operationId;
    const outbound = stopping(deps.outbound, this);
    carryOut({ ...deps, outbound }, { operationId }).then(() => this.#arrive('ended'), (error: unknown) => (error instanceof Died ? this.#arrive('ended') : this.#arrived.reject(error)));
  }

  /** Where it is once it cannot go on by itself. */
  async settled(): Promise<Stop | 'ended'> {
    this.#at = await this.#arrived.promise;
    return this.#at;
  }

  async step(): Promise<Stop | 'ended'> {
    this.#arrived = Promise.withResolvers();
    this.#go!.resolve();
    return this.settled();
  }

  async die(): Promise<void> {
    if (this.#at === 'ended') return;
    this.#arrived = Promise.withResolvers();
    this.#go!.reject(new Died());
    await this.settled();
  }

  async stop(at: Stop): Promise<void> {
    this.#go = Promise.withResolvers();
    this.#arrive(at);
    await this.#go.promise;
  }

  #arrive(at: Stop | 'ended'): void {
    this.#arrived.resolve(at);
  }
}

/** Between the activity and the real way out. */
function stopping(outbound: Outbound, carrier: Carrier): Outbound {
  return {
    ...outbound,
    async call(request, options) {
      const { fresh } = options;
      if (fresh === undefined) return outbound.call(request, options);
      let claimed = false;
      const claim = async () => {
        await carrier.stop('connected');
        const granted = await fresh.claim();
        claimed = granted !== false;
        if (claimed) await carrier.stop('claimed');
        return granted;
      };
      const ended = await outbound.call(request, { ...options, fresh: { claim } }).then((value) => ({ value }), (error: unknown) => ({ error }));
      if ('error' in ended && (!claimed || ended.error instanceof ClaimLost || ended.error instanceof Died)) throw ended.error;
      await carrier.stop('answered');
      if ('error' in ended) throw ended.error;
      return ended.value;
    },
  };
}

/** The way out as it is, until nobody can be reached any more. */
export class Line {
  isDown = false;
  readonly outbound: Outbound;

  constructor(outbound: Outbound, nobodyUrl: string) {
    this.outbound = {
      ...outbound,
      call: (request, options) => {
        if (!this.isDown) return outbound.call(request, options);
        const { pathname, search } = new URL(request.url);
        return outbound.call({ ...request, url: `${nobodyUrl}${pathname}${search}` }, { ...options, reach: { kind: 'sandbox', url: nobodyUrl } });
      },
    };
  }
}

export function depsOf(infra: Infra, outbound: Outbound): ActivityDeps {
  return { infra, outbound, providers };
}
