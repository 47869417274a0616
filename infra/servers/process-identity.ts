import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Names a living process so that a number used again by the system is not taken for it: its start time (and the boot it belongs to).
 * Null when no such process lives; one that is dead and merely not yet collected by its parent counts as gone.
 */
export function identityOf(pid: number): string | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return process.platform === 'linux' ? identityOnLinux(pid) : identityByPs(pid);
}

function identityOnLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold spaces, so that counting starts behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startedAt] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${startedAt}`;
  } catch {
    return null;
  }
}

function identityByPs(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const [, state = 'Z', startedAt = ''] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
    return state.startsWith('Z') ? null : startedAt;
  } catch {
    return null;
  }
}

/** How a process was called; empty when it is gone. */
export function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

export interface ProcessRef {
  pid: number;
  identity: string;
}

/** Null when the process is already gone. */
export function refOf(pid: number): ProcessRef | null {
  const identity = identityOf(pid);
  return identity === null ? null : { pid, identity };
}

export function isAlive(ref: ProcessRef): boolean {
  return identityOf(ref.pid) === ref.identity;
}

/**
 * Asks a process that is not our child to stop, and ends it by SIGKILL when it has not gone in time.
 * Touches nothing when the number has come to belong to another process.
 */
export async function endProcess(ref: ProcessRef, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (!isAlive(ref)) return;
  sendSignal(ref.pid, signal);
  if (await isGoneWithin(ref, graceMs)) return;
  if (isAlive(ref)) sendSignal(ref.pid, 'SIGKILL');
  if (!(await isGoneWithin(ref, 10_000))) throw new Error(`process ${ref.pid} does not end, not even by SIGKILL`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Polls, because only a parent is told of the end of a process. */
export async function isGoneWithin(ref: ProcessRef, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (isAlive(ref)) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
}
