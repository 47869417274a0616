import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** Whom PostgreSQL runs as when we are root, which it refuses to be. */
export interface RunAs {
  name: string;
  uid: number;
  gid: number;
  /** True when a folder on the way is closed to that user. */
  needsPassage: boolean;
  closedFolder: string | null;
}

const run = promisify(execFile);

/** Null when we are not root: PostgreSQL then runs as ourselves. `folders` are those that the user must be able to enter. */
export async function postgresUser(folders: string[]): Promise<RunAs | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    const ids = await idsOf(name);
    if (ids === null) continue;
    const closedFolder = await firstClosedFolder(folders, ids);
    return { name, ...ids, needsPassage: closedFolder !== null, closedFolder };
  }
  throw new Error('PostgreSQL does not run as root, and this system has neither a user postgres nor nobody; start as another user, or set DATABASE_URL');
}

async function idsOf(name: string): Promise<{ uid: number; gid: number } | null> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)));
    return { uid: uid!, gid: gid! };
  } catch {
    return null;
  }
}

async function firstClosedFolder(folders: string[], ids: { uid: number; gid: number }): Promise<string | null> {
  for (const start of folders) {
    for (let folder = await realpath(start); ; folder = dirname(folder)) {
      const { mode, uid, gid } = await stat(folder);
      const bit = uid === ids.uid ? 0o100 : gid === ids.gid ? 0o010 : 0o001;
      if ((mode & bit) === 0) return folder;
      if (folder === dirname(folder)) break;
    }
  }
  return null;
}
