import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive, type ProcessRef } from '../../infra/servers/process-identity.ts';
import { freePort } from '../support/servers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Ready {
  api: string;
  console: string | null;
  temporal: string;
  temporal_ui: string;
  sandbox: string;
  s3: string | null;
  pid: number;
  live_key: string;
  test_key: string;
}

const PORT_SETTINGS = ['', '_SANDBOX', '_POSTGRES', '_TEMPORAL', '_TEMPORAL_UI', '_TEMPORAL_HTTP', '_TEMPORAL_METRICS', '_WORKER'].map((name) => `ONCEPOST${name}_PORT`);

/** Every port on its own, so that parallel runs on one machine do not meet. */
export async function ownPorts(): Promise<Record<string, string>> {
  return Object.fromEntries(await Promise.all(PORT_SETTINGS.map(async (setting) => [setting, String(await freePort())])));
}

/** One `npm start`, seen as its user sees it: by its output, its files and its exit. */
export class Launch {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly #dataDir: string;
  #output = '';

  constructor(dataDir: string, env: Record<string, string>) {
    this.#dataDir = dataDir;
    const given = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ONCEPOST_(?!CACHE)|DATABASE_URL|SANDBOX_|TEMPORAL_|NODE_ENV)/.test(name)));
    this.child = spawn(process.execPath, [join(ROOT, 'infra/servers/bootstrap.mjs'), 'start'], {
      cwd: ROOT,
      env: { ...given, ONCEPOST_DATA: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) stream?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    this.exited = new Promise((resolve) => this.child.once('close', (code) => resolve(code)));
  }

  get output(): string {
    return this.#output;
  }

  get readyFile(): string {
    return join(this.#dataDir, 'ready.json');
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** The content of ready.json once this launch has written it. */
  async ready(withinMs: number): Promise<Ready> {
    // The file is written before the last lines are printed; waiting for those leaves nothing half said.
    await this.until('ready', withinMs, () => this.#output.includes('Ctrl-C stops it.') && existsSync(this.readyFile));
    return JSON.parse(readFileSync(this.readyFile, 'utf8')) as Ready;
  }

  async until(what: string, withinMs: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!(await isSo())) {
      if (this.hasEnded) throw new Error(`The launcher ended before "${what}":\n${this.#output}`);
      if (Date.now() > deadline) throw new Error(`Not "${what}" within ${withinMs} ms:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  modeOfReadyFile(): number {
    return statSync(this.readyFile).mode & 0o777;
  }

  /** What the launcher says it has started. */
  processes(): Record<string, ProcessRef> {
    return JSON.parse(readFileSync(join(this.#dataDir, 'processes.json'), 'utf8')) as Record<string, ProcessRef>;
  }
}

export function namesOfLiving(processes: Record<string, ProcessRef>): string[] {
  return Object.entries(processes).filter(([, ref]) => isAlive(ref)).map(([name]) => name);
}
