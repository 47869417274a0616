import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { Service } from './service.ts';

export interface NodeServiceOptions {
  name: string;
  entry: URL;
  env: NodeJS.ProcessEnv;
  logFile: string;
  stopGraceMs: number;
  /** Writes to the terminal instead of the log. */
  isLoud: boolean;
  isReady: () => Promise<boolean>;
}

/** One of our own programs. Its channel to us closes when we vanish, and it then stops by itself (parent.ts). */
export function nodeService(options: NodeServiceOptions): Service {
  return new Service({
    name: options.name,
    logFile: options.logFile,
    readyWithinMs: 90_000,
    stopSignal: 'SIGTERM',
    stopGraceMs: options.stopGraceMs,
    spawn: (log) => {
      const output = options.isLoud ? 'inherit' : log;
      return spawn(process.execPath, [options.entry.pathname], { detached: true, env: options.env, stdio: ['ignore', output, output, 'ipc'] });
    },
    isReady: options.isReady,
  });
}

export async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

export async function listens(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  socket.destroy();
  return isOpen;
}
