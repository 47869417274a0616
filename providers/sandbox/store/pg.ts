import { createRequire } from 'node:module';

/** The part of `pg` that is used here. The package brings no types of its own, and this is all that is needed of them. */
export interface Rows<Row> {
  rows: Row[];
  rowCount: number | null;
}

export interface Query {
  text: string;
  values?: unknown[];
  /** A named query is prepared once per connection. */
  name?: string;
}

export interface Connection {
  query<Row = Record<string, any>>(query: Query | string): Promise<Rows<Row>>;
  release(error?: boolean): void;
}

export interface Pool {
  query<Row = Record<string, any>>(query: Query): Promise<Rows<Row>>;
  connect(): Promise<Connection>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): void;
}

interface PoolOptions {
  connectionString: string;
  max: number;
  connectionTimeoutMillis: number;
  application_name: string;
  keepAlive: boolean;
}

const pg = createRequire(import.meta.url)('pg') as { Pool: new (options: PoolOptions) => Pool };

/** Opens nothing yet: connections are made when first needed. */
export function openPool(url: string, onLost: (error: Error) => void): Pool {
  const pool = new pg.Pool({
    connectionString: url, max: 6, connectionTimeoutMillis: 5_000, application_name: 'oncepost sandbox', keepAlive: true,
  });
  // @NOTE without a listener a broken idle connection would end the process; the next query opens a new one.
  pool.on('error', onLost);
  return pool;
}
