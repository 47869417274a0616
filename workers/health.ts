import { createServer, type Server } from 'node:http';
import type { Worker } from '@temporalio/worker';

/** For orchestrators: `/livez` says that the event loop turns, `/readyz` that the workers poll. */
export function startHealth(options: { host: string; port: number; workers: readonly Worker[] }): Promise<Server> {
  const server = createServer((request, response) => {
    const ready = options.workers.every((worker) => worker.getState() === 'RUNNING');
    const status = request.url === '/livez' ? 200 : request.url === '/readyz' ? (ready ? 200 : 503) : 404;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ status: status === 200 ? 'ok' : 'not_ready' }));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve(server));
  });
}
