import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig, type Config } from '../config/config.ts';
import { readPorts, type PortName, type Ports } from './ports.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What the launcher is to do, read from the environment once. */
export interface Settings {
  dataDir: string;
  ports: Ports;
  /** The ports of what we start ourselves. */
  neededPorts: PortName[];
  config: Config;
  embeds: { postgres: boolean; temporal: boolean; sandbox: boolean };
  isDev: boolean;
}

export function readSettings(env: NodeJS.ProcessEnv, args: string[]): Settings {
  const ports = readPorts(env);
  const config = readConfig(env);
  const embeds = {
    postgres: isUnset(env.DATABASE_URL),
    temporal: isUnset(env.TEMPORAL_ADDRESS),
    sandbox: config.sandbox.enabled && isUnset(env.SANDBOX_URL),
  };
  const neededPorts: PortName[] = ['api', 'worker'];
  if (embeds.sandbox) neededPorts.push('sandbox');
  if (embeds.postgres) neededPorts.push('postgres');
  if (embeds.temporal) neededPorts.push('temporal', 'temporalUi', 'temporalHttp', 'temporalMetrics');
  return { dataDir: resolve(env.ONCEPOST_DATA || join(ROOT, '.data')), ports, neededPorts, config, embeds, isDev: args.includes('--dev') };
}

function isUnset(value: string | undefined): boolean {
  return value === undefined || value === '';
}
