import { connect, createServer, type Server, type Socket } from 'node:net';

export type Direction = 'to_server' | 'to_client';

/** What a tap may do with a piece: let it through, or hold it and everything after it on this connection. */
export type Verdict = 'pass' | 'hold';

export interface Tapped {
  id: number;
  /** Free for the tap: what it has seen on this connection. */
  notes: Record<string, unknown>;
  release(): void;
  cut(): void;
}

export type Tap = (piece: { direction: Direction; bytes: Buffer; connection: Tapped }) => Verdict;

/**
 * A TCP proxy that stops the world at an observed moment instead of a guessed one: the test's tap sees every piece
 * in order, and what it holds stays held until it is released or the connection is cut.
 */
export class TcpProxy {
  readonly port: number;
  tap: Tap = () => 'pass';
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #refusing = false;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(target: { host?: string; port: number }): Promise<TcpProxy> {
    let proxy!: TcpProxy;
    let count = 0;
    const server = createServer((client) => proxy.#join(client, connect({ host: target.host ?? '127.0.0.1', port: target.port }), (count += 1)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy = new TcpProxy(server, (server.address() as { port: number }).port);
    return proxy;
  }

  /** Everybody's connections break, and new ones are refused until `heal`. */
  sever(): void {
    this.#refusing = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  heal(): void {
    this.#refusing = false;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, server: Socket, id: number): void {
    if (this.#refusing) {
      client.resetAndDestroy();
      server.destroy();
      return;
    }
    const held: (() => void)[] = [];
    let holding = false;
    const connection: Tapped = {
      id, notes: {},
      release: () => {
        holding = false;
        for (const write of held.splice(0)) write();
      },
      cut: () => {
        client.resetAndDestroy();
        server.destroy();
      },
    };
    const carry = (from: Socket, to: Socket, direction: Direction) => {
      this.#sockets.add(from);
      from.on('data', (bytes: Buffer) => {
        if (!holding && this.tap({ direction, bytes, connection }) === 'hold') holding = true;
        const write = () => void to.write(bytes);
        if (holding) held.push(write);
        else write();
      });
      from.on('close', () => {
        this.#sockets.delete(from);
        // What a vanished client had still to say is lost; what a server said before it hung up is not.
        if (direction === 'to_server') {
          held.length = 0;
          to.destroy();
        } else if (holding) held.push(() => void to.end());
        else to.end();
      });
      from.on('error', () => from.destroy());
    };
    carry(client, server, 'to_server');
    carry(server, client, 'to_client');
  }
}
