import { inspect } from 'node:util';
import { ConfigError } from './config.ts';
import { EnvReader } from './env.ts';

/** One generation of a key. The first of a ring is used for new values, the others only to read old ones. */
export interface RingKey {
  id: string;
  key: Buffer;
}

/** Never printed: `toJSON` and `inspect` show nothing. */
export class Secrets {
  readonly databaseUrl: string;
  readonly sandboxDatabaseUrl: string;
  readonly sandboxSecret: string;
  readonly peppers: readonly RingKey[];
  readonly encryptionKeys: readonly RingKey[];
  readonly cursorKeys: readonly RingKey[];
  readonly metricsToken: string | null;

  constructor(source: NodeJS.ProcessEnv) {
    const env = new EnvReader(source);
    this.databaseUrl = env.required('DATABASE_URL');
    this.sandboxDatabaseUrl = env.string('SANDBOX_DATABASE_URL', this.databaseUrl);
    this.sandboxSecret = env.required('SANDBOX_SECRET');
    this.peppers = readRing(env, 'ONCEPOST_PEPPERS');
    this.encryptionKeys = readRing(env, 'ONCEPOST_ENCRYPTION_KEYS');
    this.cursorKeys = readRing(env, 'ONCEPOST_CURSOR_KEYS');
    this.metricsToken = env.string('METRICS_TOKEN');
    if (env.faults.length > 0) throw new ConfigError(env.faults);
  }

  toJSON(): string {
    return '[secrets]';
  }

  [inspect.custom](): string {
    return '[secrets]';
  }
}

/** A ring is `id:base64,id:base64`, 32 bytes each, the active key first. */
function readRing(env: EnvReader, name: string): RingKey[] {
  const text = env.required(name);
  if (text === '') return [];
  return text.split(',').map((item) => {
    const [id = '', encoded = ''] = item.split(':');
    const key = Buffer.from(encoded, 'base64');
    if (!/^[a-z0-9-]{1,32}$/.test(id) || key.length !== 32) env.faults.push(`${name} must be a list of id:key, each key 32 bytes in base64`);
    return { id, key };
  });
}
