import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from './private-file.ts';

/** What the first start of an installation made. `wasShown` is false until the keys have been printed. */
export interface FirstKeys {
  organization_id: string;
  live_key: string;
  test_key: string;
  sign_in_code: string | null;
  wasShown: boolean;
}

export interface EmbeddedSecrets {
  databasePassword: string;
  /** Handed to the processes under these names, unless the environment has its own. */
  environment: Record<'SANDBOX_SECRET' | 'ONCEPOST_PEPPERS' | 'ONCEPOST_ENCRYPTION_KEYS' | 'ONCEPOST_CURSOR_KEYS', string>;
  firstKeys: FirstKeys | null;
}

/** Reads `secrets.json` of the data folder, or makes it: without it the stored credentials cannot be read again. */
export function embeddedSecrets(dataDir: string): EmbeddedSecrets {
  const file = fileOf(dataDir);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as EmbeddedSecrets;
  const secrets: EmbeddedSecrets = {
    databasePassword: randomBytes(24).toString('base64url'),
    environment: {
      SANDBOX_SECRET: randomBytes(32).toString('base64url'),
      ONCEPOST_PEPPERS: newRing(),
      ONCEPOST_ENCRYPTION_KEYS: newRing(),
      ONCEPOST_CURSOR_KEYS: newRing(),
    },
    firstKeys: null,
  };
  writePrivateFile(file, JSON.stringify(secrets, null, 2));
  return secrets;
}

/** Keeps the first keys for later starts, which write them into `ready.json` again. */
export function rememberFirstKeys(dataDir: string, firstKeys: FirstKeys): void {
  writePrivateFile(fileOf(dataDir), JSON.stringify({ ...embeddedSecrets(dataDir), firstKeys }, null, 2));
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'secrets.json');
}

function newRing(): string {
  return `k1:${randomBytes(32).toString('base64')}`;
}
