import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { publicLookup, specialAddresses } from './guard.ts';
import { ConnectFailed, Stopped } from './failure.ts';

type Connector = buildConnector.connector;
/** Decides over a connection that stands and on which nothing was written. An error ends it. */
export type Gate = (socket: Socket) => Promise<Error | null>;

export interface Connectors {
  /** Public addresses only. */
  guarded: Connector;
  /** For hosts that an operator named, and the sandbox. */
  open: Connector;
}

export function createConnectors(connectTimeoutMs: number): Connectors {
  return {
    guarded: timed(buildConnector({ timeout: 0, lookup: publicLookup, blockList: specialAddresses() } as buildConnector.BuildOptions), connectTimeoutMs),
    open: timed(buildConnector({ timeout: 0 }), connectTimeoutMs),
  };
}

/** undici's own connect timer is exact to a second only; this one ends DNS, TCP and TLS together, and says which of them failed. */
function timed(connect: Connector, connectTimeoutMs: number): Connector {
  return (options, callback) => {
    let stage: 'connect' | 'tls' = 'connect';
    // The types say that nothing is returned; the socket is.
    const socket = connect(options, (error, opened) => {
      clearTimeout(timer);
      if (error === null) callback(null, opened);
      else callback(new ConnectFailed(error, stage), null);
    }) as unknown as Socket;
    if (options.protocol === 'https:') socket.once('connect', () => (stage = 'tls'));
    const timer = setTimeout(() => socket.destroy(new Stopped('timeout_connect')), connectTimeoutMs);
  };
}

/**
 * A connector for one request: opens once, asks the gate, and only then lets undici write. Without the limit to one,
 * undici would open another connection by itself after the first had closed unused, and ask for a second claim.
 */
export function gated(connect: Connector, gate: Gate): Connector {
  let used = false;
  return (options, callback) => {
    if (used) return callback(new ConnectFailed(null, 'connect'), null);
    used = true;
    connect(options, (error, socket) => {
      if (error !== null) callback(error, null);
      else void letThrough({ gate, socket, callback });
    });
  };
}

async function letThrough({ gate, socket, callback }: { gate: Gate; socket: Socket; callback: buildConnector.Callback }): Promise<void> {
  const refusal = await gate(socket);
  if (refusal === null) return callback(null, socket);
  socket.destroy();
  return callback(refusal, null);
}
