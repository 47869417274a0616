import type { Pool, PoolClient } from 'pg';
import type { Database } from '../../infra/db/database.ts';

export interface Recorder {
  /** Keeps the statements of the transactions that the work opens, the look-up of the key first, and gives them. */
  record(name: string, work: () => Promise<unknown>): Promise<string[]>;
  /** Runs them again on a connection of the pool; the rows of all of them. */
  replay(name: string): Promise<unknown[]>;
}

/** Statements come to the driver as finished text, so their text is all there is to keep. */
export async function recorderOf(db: Database): Promise<Recorder> {
  const pool = (await (db.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }).getNativeClient());
  const kept = new Map<string, string[]>();
  let transactions: string[][] | null = null;
  const open = new WeakMap<PoolClient, string[]>();
  const known = new WeakSet<PoolClient>();
  const listen = (client: PoolClient) => {
    if (known.has(client)) return;
    known.add(client);
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      const [first] = given;
      const text = typeof first === 'string' ? first : (first as { text: string }).text;
      if (/^(?:begin|start transaction)\b/i.test(text)) {
        open.set(client, []);
        transactions?.push(open.get(client)!);
      }
      open.get(client)?.push(text);
      return query(...given);
    }) as typeof client.query;
  };
  pool.on('acquire', listen);
  return {
    async record(name, work) {
      transactions = [];
      await work();
      // What is written behind the request's back, now and then, is none of its reading.
      const reading = transactions.filter((statements) => !statements.some((text) => /^update\b/i.test(text)));
      transactions = null;
      if (!reading.some((statements) => statements.some((text) => text.includes('oncepost_tenant')))) throw new Error(`${name} opened no transaction of a tenant`);
      kept.set(name, reading.flat());
      return reading.flat();
    },
    async replay(name) {
      const client = await pool.connect();
      try {
        const results: unknown[] = [];
        for (const text of kept.get(name)!) results.push((await client.query(text)).rows);
        return results;
      } finally {
        client.release();
      }
    },
  };
}
