import { Agent, Client } from 'undici';
import { AnswerReader } from './answer.ts';
import { encodeBody } from './body.ts';
import { createConnectors, gated } from './connector.ts';
import { download, type DownloadOptions, type Downloaded } from './download.ts';
import { Exchange, type Claim, type Wire } from './exchange.ts';
import { createGuard } from './guard.ts';
import { TripRecorder } from './trip.ts';
import { GuardRefusal, type Answer, type GuardRule, type ProviderRequest, type Reach, type Trip } from './types.ts';

export interface CallOptions {
  /** Over everything: connection, claim, request and the whole answer. A claim that returns a date replaces it. */
  deadline: Date;
  reach: Reach;
  /** A public mutation: a connection of its own, and `claim` between its opening and the first byte. `false` = nothing is written, `ClaimLost`. */
  fresh?: { claim: Claim };
  headers?: Record<string, string>;
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface Outbound {
  /** Throws `TransportFailure`, `GuardRefusal` (one of them), `ClaimLost`, or what the claim threw. Never sends twice, follows no redirect. */
  call(request: ProviderRequest, options: CallOptions): Promise<{ answer: Answer; trip: Trip }>;
  /** Streams a file to `sink`. Follows up to three redirects, each through the guard. */
  download(url: string, options: DownloadOptions): Promise<Downloaded>;
  /** The rule that would refuse this address, or null. Asks nobody. */
  refusal(url: string, reach: Reach): GuardRule | null;
  close(): Promise<void>;
}

/** No timers but ours, no keep-alive beyond a few seconds, no retries, no proxy from the environment. */
const QUIET = { headersTimeout: 0, bodyTimeout: 0 } as const;
const KEEP_ALIVE = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 } as const;

/** The one way out. Holds pooled connections for reads and private calls until `close`. */
export function createOutbound(options: { allow: readonly string[]; blocked: readonly string[]; connectTimeoutMs: number }): Outbound {
  const guard = createGuard(options);
  const connectors = createConnectors(options.connectTimeoutMs);
  const pools = {
    guarded: new Agent({ ...QUIET, connect: connectors.guarded, ...KEEP_ALIVE }),
    open: new Agent({ ...QUIET, connect: connectors.open, ...KEEP_ALIVE }),
  };
  const admit = (url: string, reach: Reach) => {
    const admission = guard.admit(url, reach);
    if (!admission.admitted) throw new GuardRefusal(admission.rule, new TripRecorder().trip());
    return { url: admission.url, way: admission.open ? ('open' as const) : ('guarded' as const) };
  };
  return {
    async call(request, options) {
      const { url, way } = admit(request.url, options.reach);
      const wire = wireOf(request, url, options.headers);
      const reader = new AnswerReader(options.maxBytes);
      const exchange = new Exchange({ reader, deadline: options.deadline, signal: options.signal });
      const claim = options.fresh?.claim;
      if (claim === undefined) return { trip: await exchange.run(pools[way], wire), answer: reader.answer() };
      const client = new Client(url.origin, { ...QUIET, pipelining: 0, connect: gated(connectors[way], (socket) => exchange.pass(claim, socket)) });
      try {
        return { trip: await exchange.run(client, wire), answer: reader.answer() };
      } finally {
        void client.destroy();
      }
    },
    download: (url, options) => download({ url, options, admit, pools }),
    refusal(url, reach) {
      const admission = guard.admit(url, reach);
      return admission.admitted ? null : admission.rule;
    },
    async close() {
      await Promise.all([pools.guarded.destroy(), pools.open.destroy()]);
    },
  };
}

function wireOf(request: ProviderRequest, url: URL, more: Record<string, string> = {}): Wire {
  const body = encodeBody(request);
  const headers: Record<string, string> = { 'user-agent': 'oncepost', accept: '*/*' };
  if (body.contentType !== null) headers['content-type'] = body.contentType;
  if (body.content !== null && !Buffer.isBuffer(body.content)) headers['content-length'] = String(body.length);
  for (const [name, value] of Object.entries({ ...request.headers, ...more })) headers[name.toLowerCase()] = value;
  headers['accept-encoding'] = 'identity';
  return { origin: url.origin, path: `${url.pathname}${url.search}`, method: request.method, headers, body: body.content };
}
