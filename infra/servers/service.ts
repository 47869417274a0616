import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export interface ServiceSpec {
  name: string;
  /** All output of the process goes here. */
  logFile: string;
  /** Makes a start possible; runs before each one, and may take its time. */
  prepare?: () => Promise<void>;
  spawn: (log: number) => ChildProcess;
  /** Resolves when the process does its work; is called again and again, and says no by returning false. */
  isReady: (child: ChildProcess) => Promise<boolean>;
  readyWithinMs: number;
  stopSignal: NodeJS.Signals;
  /** How long the process may take to stop before it is ended by SIGKILL. */
  stopGraceMs: number;
  /** Recognises by the log a failed start that succeeds a moment later. */
  isPassing?: (log: string) => boolean;
}

type State = 'stopped' | 'starting' | 'running' | 'stopping';

/**
 * One process that this process owns: started, watched, stopped. After a SIGKILL of this process the other one may live on,
 * unless the system or the process itself notices (see own-process.ts and parent.ts).
 */
export class Service {
  readonly spec: ServiceSpec;
  /** Called with each new process, before it is ready. */
  onSpawn: (pid: number) => void = () => {};
  /** Called when a running process ends without having been asked to. */
  onDeath: (how: string) => void = () => {};
  #child: ChildProcess | null = null;
  #exited: Promise<void> = Promise.resolve();
  #state: State = 'stopped';
  #logFrom = 0;

  constructor(spec: ServiceSpec) {
    this.spec = spec;
  }

  get name(): string {
    return this.spec.name;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** Leaves no process behind when it throws. */
  async start(): Promise<void> {
    if (this.#state !== 'stopped') throw new Error(`${this.name} is ${this.#state}`);
    this.#state = 'starting';
    try {
      await this.spec.prepare?.();
      const deadline = Date.now() + this.spec.readyWithinMs;
      while (!(await this.#attempt(deadline))) await pause(100);
    } catch (error) {
      // Who called stop() meanwhile ends the process in its own way.
      if (this.#state === 'starting') await this.#end('SIGKILL');
      throw error;
    }
  }

  /** One start; false when it failed for a reason that passes. */
  async #attempt(deadline: number): Promise<boolean> {
    const child = this.#spawn();
    while (child.exitCode === null && child.signalCode === null) {
      if (this.#state !== 'starting') throw new Error(`${this.name} was stopped while it started`);
      if (await this.spec.isReady(child)) {
        this.#state = 'running';
        return true;
      }
      if (Date.now() > deadline) throw new Error(`${this.name} was not ready within ${this.spec.readyWithinMs / 1000} s.${this.#lastWords()}`);
      await pause(20);
    }
    if (this.spec.isPassing?.(this.logSinceStart()) === true && Date.now() < deadline) return false;
    throw new Error(`${this.name} ended while it started (${howOf(child)}).${this.#lastWords()}`);
  }

  #spawn(): ChildProcess {
    if (this.#state !== 'starting') throw new Error(`${this.name} was stopped while it started`);
    makeRoomForLog(this.spec.logFile);
    const log = openSync(this.spec.logFile, 'a', 0o600);
    this.#logFrom = fstatSync(log).size;
    const child = this.spec.spawn(log);
    closeSync(log);
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      // Without a number there was never a process, hence no exit to wait for.
      child.once('error', () => child.pid === undefined && resolve());
    });
    void this.#exited.then(() => this.#noticeExit(child));
    if (child.pid === undefined) throw new Error(`${this.name} could not be started: ${child.spawnfile}`);
    this.onSpawn(child.pid);
    return child;
  }

  #noticeExit(child: ChildProcess): void {
    if (this.#child !== child || this.#state !== 'running') return;
    this.#state = 'stopped';
    this.#child = null;
    this.onDeath(howOf(child));
  }

  /** Asks the process to stop and waits until it has. */
  async stop(): Promise<void> {
    await this.#end(this.spec.stopSignal);
  }

  /** SIGKILL, as a crash would: nothing is flushed or said goodbye to. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === null) {
      this.#state = 'stopped';
      return;
    }
    this.#state = 'stopping';
    child.kill(signal);
    const killer = setTimeout(() => child.kill('SIGKILL'), this.spec.stopGraceMs);
    await this.#exited;
    clearTimeout(killer);
    if (this.#child === child) this.#child = null;
    this.#state = 'stopped';
  }

  /** Without stack frames, which would leave no room for the reason. */
  #lastWords(): string {
    const lines = this.logSinceStart().trim().split('\n').filter((line) => !/^\s+at /.test(line));
    return ` Its last words (${this.spec.logFile}):\n${lines.slice(-12).map((line) => `  ${line}`).join('\n')}`;
  }

  /** The end of what the newest process wrote. */
  logSinceStart(): string {
    const log = openSync(this.spec.logFile, 'r');
    try {
      const { size } = fstatSync(log);
      const from = Math.max(this.#logFrom, size - 8192);
      const bytes = Buffer.alloc(Math.max(0, size - from));
      readSync(log, bytes, 0, bytes.length, from);
      return bytes.toString('utf8');
    } finally {
      closeSync(log);
    }
  }
}

const LARGE_LOG_BYTES = 20 * 1024 * 1024;

/** Keeps one older log beside the present one. */
function makeRoomForLog(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LARGE_LOG_BYTES) renameSync(file, `${file}.1`);
}

function howOf(child: ChildProcess): string {
  return child.signalCode ?? `exit code ${child.exitCode}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
