import type { Server } from 'node:http';
import { Accounts } from './accounts.ts';
import { createApp } from './app.ts';
import { keepHouse } from './housekeeping.ts';
import { Ledger } from './ledger.ts';
import { Limits } from './limits.ts';
import type { Log } from './log.ts';
import type { Settings } from './sandbox.ts';
import { Media } from './store/media.ts';
import { migrate } from './store/migrate.ts';
import { Objects } from './store/objects.ts';
import { openPool } from './store/pg.ts';
import { UsedWords } from './store/used-words.ts';
import { Vanishing } from './vanishing.ts';

const DRAIN_MS = 3_000;

export interface OpenSandbox {
  server: Server;
  /** Lets requests in flight finish for a moment, then cuts off what hangs. */
  close(): Promise<void>;
}

/** Migrates, picks up what was left, and listens. */
export async function openSandbox(options: { settings: Settings; databaseUrl: string; host: string; port: number; log: Log }): Promise<OpenSandbox> {
  const { settings, log } = options;
  const pool = openPool(options.databaseUrl, (error) => log.failed('database_connection_lost', error));
  try {
    await migrate(pool);
    const ledger = new Ledger(pool);
    const vanishing = new Vanishing(pool, ledger, log);
    const server = createApp({
      settings, pool, ledger, vanishing, log, accounts: new Accounts(pool), objects: new Objects(pool), media: new Media(pool), usedWords: new UsedWords(pool), limits: new Limits(),
    });
    await vanishing.start();
    const stopHousekeeping = keepHouse(pool, log);
    await listen(server, options.host, options.port);
    const close = async (): Promise<void> => {
      stopHousekeeping();
      vanishing.stop();
      await drain(server);
      await pool.end();
    };
    return { server, close };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
