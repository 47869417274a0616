import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FirstKeys } from './embedded-secrets.ts';
import { writePrivateFile } from './private-file.ts';
import type { Settings } from './settings.ts';

export interface Addresses {
  api: string;
  console: string | null;
  temporal: string;
  temporal_ui: string | null;
  sandbox: string | null;
  s3: string | null;
}

/** Exists exactly while the whole product answers: scripts wait for it. */
export function writeReadyFile(settings: Settings, addresses: Addresses, keys: FirstKeys | null): void {
  const content = { ...addresses, pid: process.pid, live_key: keys?.live_key ?? null, test_key: keys?.test_key ?? null };
  writePrivateFile(fileOf(settings.dataDir), `${JSON.stringify(content, null, 2)}\n`);
}

export function removeReadyFile(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true });
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'ready.json');
}
