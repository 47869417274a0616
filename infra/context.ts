import type { Client, Connection } from '@temporalio/client';
import { type Clock, systemClock } from './clock.ts';
import { readConfig, type Config } from './config/config.ts';
import { Secrets } from './config/secrets.ts';
import { openDatabase, type Database } from './db/database.ts';
import { CursorCodec } from './db/keyset.ts';
import { openLog, type Log } from './log/log.ts';
import { connectTemporal, readTemporalSettings } from './temporal/connection.ts';

/** What a process stands on. The only opener of connections. */
export class Infra {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Log;
  readonly clock: Clock;
  readonly db: Database;
  readonly temporal: Client;
  readonly cursors: CursorCodec;
  readonly #temporalConnection: Connection;

  private constructor(parts: { config: Config; secrets: Secrets; log: Log; clock: Clock; db: Database; temporal: Client; connection: Connection }) {
    this.config = parts.config;
    this.secrets = parts.secrets;
    this.log = parts.log;
    this.clock = parts.clock;
    this.db = parts.db;
    this.temporal = parts.temporal;
    this.cursors = new CursorCodec(parts.secrets.cursorKeys);
    this.#temporalConnection = parts.connection;
  }

  static async open(process: string, source: NodeJS.ProcessEnv, overrides: { clock?: Clock } = {}): Promise<Infra> {
    const config = readConfig(source);
    const secrets = new Secrets(source);
    const log = openLog({ process, level: config.logLevel });
    const db = await openDatabase({ url: secrets.databaseUrl, pool: config.databasePool });
    const { client, connection } = connectTemporal(readTemporalSettings(source));
    return new Infra({ config, secrets, log, clock: overrides.clock ?? systemClock, db, temporal: client, connection });
  }

  async close(): Promise<void> {
    try {
      await this.#temporalConnection.close();
    } finally {
      await this.db.close(true);
    }
  }
}
