import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import type { RunAs } from './postgres-user.ts';

export interface OwnProcess {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  log: number;
  /** What the system sends the process when this one vanishes, where it can (Linux with setpriv). */
  orphanSignal: 'INT' | 'TERM';
  runAs?: RunAs | null;
}

/**
 * Starts a server in a session of its own, so that a Ctrl-C in the terminal reaches only the launcher, which knows the order of stopping.
 * Where the system can tie it to our life it does not outlive us; elsewhere the next start finds it by the record of processes.
 */
export function spawnOwn(own: OwnProcess): ChildProcess {
  const { command, args, identity } = commandOf(own);
  return spawn(command, args, { ...identity, detached: true, env: own.env, stdio: ['ignore', own.log, own.log] });
}

export function commandOf(own: Pick<OwnProcess, 'program' | 'args' | 'runAs'> & { orphanSignal?: 'INT' | 'TERM' }): {
  command: string;
  args: string[];
  identity: { uid?: number; gid?: number };
} {
  const user = own.runAs ?? null;
  if (!hasSetpriv()) {
    if (user?.needsPassage === true) throw new Error(`PostgreSQL does not run as root, and user ${user.name} cannot enter ${user.closedFolder}; set ONCEPOST_DATA to a folder it can enter`);
    return { command: own.program, args: own.args, identity: user === null ? {} : { uid: user.uid, gid: user.gid } };
  }
  const flags = own.orphanSignal === undefined ? [] : ['--pdeathsig', own.orphanSignal];
  if (user !== null) flags.push('--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups');
  // Lets the user through folders that only root may enter, such as a checkout in /root or a folder of mktemp.
  if (user?.needsPassage === true) flags.push('--inh-caps', '+dac_override', '--ambient-caps', '+dac_override');
  return { command: 'setpriv', args: [...flags, own.program, ...own.args], identity: {} };
}

let setpriv: boolean | null = null;

function hasSetpriv(): boolean {
  setpriv ??= process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'keep', 'true'], { stdio: 'ignore' }).status === 0;
  return setpriv;
}
