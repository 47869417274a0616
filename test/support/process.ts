import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One of our processes, as a child that can be killed, stopped and started again. */
export class Process {
  output = '';
  readonly #entry: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #ready: () => Promise<boolean>;
  #child: ChildProcess | null = null;

  constructor(entry: string, env: NodeJS.ProcessEnv, ready: () => Promise<boolean>) {
    this.#entry = entry;
    this.#env = env;
    this.#ready = ready;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [join(ROOT, this.#entry)], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const keep = (chunk: Buffer) => {
      this.output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    await until(`${this.#entry} is ready`, async () => {
      if (child.exitCode !== null) throw new Error(`${this.#entry} exited with ${child.exitCode}:\n${this.output.slice(-3000)}`);
      return this.#ready();
    });
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async #end(name: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(name);
    return exited;
  }
}
