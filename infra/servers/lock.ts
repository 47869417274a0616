import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isAlive, refOf, type ProcessRef } from './process-identity.ts';

export interface Lock {
  release(): Promise<void>;
}

/** Takes the lock for this process, or tells which living process holds it. One left behind by a dead process is taken over. */
export async function takeLock(file: string): Promise<Lock | { heldBy: ProcessRef }> {
  const own = JSON.stringify(refOf(process.pid));
  const draft = `${file}.${process.pid}`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(draft, own, { mode: 0o600 });
  try {
    for (;;) {
      // A link appears whole or not at all, and only one process can make it.
      if (await link(draft, file).then(() => true, refuseUnless('EEXIST'))) return { release: () => release(file, own) };
      const text = await readFile(file, 'utf8').catch(() => null);
      if (text === null) continue;
      const holder = parse(text);
      if (holder !== null && isAlive(holder)) return { heldBy: holder };
      await removeStale(file, text);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Moves the lock aside before looking at it again, because another process may have taken it over since we read it. */
async function removeStale(file: string, stale: string): Promise<void> {
  const aside = `${file}.${process.pid}.stale`;
  if (!(await rename(file, aside).then(() => true, refuseUnless('ENOENT')))) return;
  if ((await readFile(aside, 'utf8')) !== stale) await link(aside, file).catch(refuseUnless('EEXIST'));
  await rm(aside, { force: true });
}

async function release(file: string, own: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => null)) === own) await rm(file, { force: true });
}

function parse(text: string): ProcessRef | null {
  try {
    return JSON.parse(text) as ProcessRef;
  } catch {
    return null;
  }
}

function refuseUnless(code: string): (error: NodeJS.ErrnoException) => false {
  return (error) => {
    if (error.code !== code) throw error;
    return false;
  };
}
