import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';

export interface TestServer {
  url: string;
  pair: string;
  /** Everything that any client wrote. */
  received: () => string;
  connections: () => number;
  close: () => Promise<void>;
}

/** A raw TCP server: the test decides every byte. */
export async function tcpServer(onConnection: (socket: Socket, received: () => string) => void): Promise<TestServer> {
  let all = '';
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    let mine = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      mine += chunk.toString('latin1');
      all += chunk.toString('latin1');
    });
    onConnection(socket, () => mine);
  });
  return listening(server, { received: () => all, connections: () => connections, drop: () => sockets.forEach((socket) => socket.destroy()) });
}

export async function httpServer(listener: RequestListener): Promise<TestServer> {
  let connections = 0;
  const server = createHttpServer(listener);
  server.on('connection', () => connections++);
  return listening(server, { received: () => '', connections: () => connections, drop: () => server.closeAllConnections() });
}

async function listening(server: Server, more: { received: () => string; connections: () => number; drop: () => void }): Promise<TestServer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    pair: `127.0.0.1:${port}`,
    received: more.received,
    connections: more.connections,
    close: async () => {
      more.drop();
      server.close();
      await once(server, 'close');
    },
  };
}
