import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { takeLock, type Lock } from './lock.ts';
import { isAlive, isGoneWithin } from './process-identity.ts';
import { withProgress } from './progress.ts';

/** Long enough for a launcher whose npm was killed to notice and to begin to stop. */
const PATIENCE_MS = 3_000;

/** One launcher per data folder. Waits for one that is stopping, and refuses, naming it, where another one runs. */
export async function lockDataFolder(dataDir: string): Promise<Lock> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const lock = await takeLock(join(dataDir, 'launcher.lock'));
    if ('release' in lock) return lock;
    const { heldBy } = lock;
    if (await isStopping(dataDir, heldBy.pid)) {
      await withProgress(`Waiting for process ${heldBy.pid}, which is stopping`, async () => {
        while (isAlive(heldBy)) await isGoneWithin(heldBy, 1_000);
      });
    } else if (Date.now() > deadline) {
      throw new Error(`Oncepost already runs on ${dataDir} as process ${heldBy.pid}. Stop it first (kill ${heldBy.pid}), or set ONCEPOST_DATA to another folder.`);
    } else {
      await isGoneWithin(heldBy, 200);
    }
  }
}

/** Says to the next launcher that waiting for us is worth it. */
export async function announceStopping(dataDir: string): Promise<void> {
  await writeFile(stoppingFile(dataDir), String(process.pid), { mode: 0o600 });
}

export async function withdrawStopping(dataDir: string): Promise<void> {
  await rm(stoppingFile(dataDir), { force: true });
}

async function isStopping(dataDir: string, pid: number): Promise<boolean> {
  return (await readFile(stoppingFile(dataDir), 'utf8').catch(() => '')) === String(pid);
}

function stoppingFile(dataDir: string): string {
  return join(dataDir, 'launcher.stopping');
}
