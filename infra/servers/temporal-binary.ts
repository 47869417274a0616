import { execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { access, chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { takeLock, type Lock } from './lock.ts';
import { isGoneWithin } from './process-identity.ts';
import { withProgress } from './progress.ts';

/** Of the CLI, which carries server 1.29.1. The same version stands in temporal/go.mod. */
const VERSION = '1.5.1';
const SERVER_MINOR = 29;
const DOWNLOAD_TIMEOUT_MS = 120_000;
const MODULE = fileURLToPath(new URL('./temporal', import.meta.url));
const run = promisify(execFile);

export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return env.ONCEPOST_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'oncepost');
}

/** Finds the Temporal CLI on PATH or in the cache, else downloads it, else builds it. What lies in the cache is always whole. */
export async function temporalBinary(env: NodeJS.ProcessEnv): Promise<string> {
  if (await isUsable('temporal')) return 'temporal';
  const cached = join(cacheFolder(env), `temporal-${VERSION}-${process.platform}-${process.arch}`);
  if (await exists(cached)) return cached;
  const lock = await waitForLock(`${cached}.lock`);
  try {
    if (!(await exists(cached))) await provide(cached);
    return cached;
  } finally {
    await lock.release();
  }
}

/** An older server lacks settings that we give. */
async function isUsable(program: string): Promise<boolean> {
  const { stdout } = await run(program, ['--version'], { timeout: 10_000 }).catch(() => ({ stdout: '' }));
  return Number(/Server 1\.(\d+)/.exec(stdout)?.[1] ?? 0) >= SERVER_MINOR;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(() => true, () => false);
}

async function waitForLock(file: string): Promise<Lock> {
  for (;;) {
    const lock = await takeLock(file);
    if ('release' in lock) return lock;
    await withProgress(`Waiting for process ${lock.heldBy.pid}, which gets the Temporal server too`, () => isGoneOrDone(file, lock.heldBy));
  }
}

async function isGoneOrDone(file: string, holder: { pid: number; identity: string }): Promise<void> {
  while ((await exists(file)) && !(await isGoneWithin(holder, 200)));
}

async function provide(target: string): Promise<void> {
  const draft = await mkdtemp(`${target}.`);
  try {
    const file = join(draft, 'temporal');
    const refusal = await withProgress('Downloading the Temporal server', () => download(draft)).then(() => null, (error: Error) => error.message);
    if (refusal !== null) await build(file, refusal);
    await chmod(file, 0o755);
    if (!(await isUsable(file))) throw new Error(`The Temporal server that was just made does not run: ${file}`);
    await rename(file, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function download(folder: string): Promise<void> {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const url = `https://temporal.download/cli/archive/v${VERSION}?platform=${process.platform}&arch=${arch}`;
  const connected = new AbortController();
  const impatience = setTimeout(() => connected.abort(new Error('no answer within 5 s')), 5_000);
  const response = await fetch(url, { signal: AbortSignal.any([connected.signal, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)]) })
    .finally(() => clearTimeout(impatience));
  if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
  const archive = join(folder, 'temporal.tar.gz');
  await pipeline(Readable.fromWeb(response.body as never), createWriteStream(archive));
  await run('tar', ['-xzf', archive, '-C', folder, 'temporal']);
}

async function build(file: string, refusal: string): Promise<void> {
  const go = await run('go', ['version']).then(() => true, () => false);
  if (!go) {
    throw new Error(`The Temporal server is neither on PATH nor in the cache, its download failed (${refusal}), and Go, with which it could be built, is not installed.\n`
      + `Install the Temporal CLI ${VERSION} or Go 1.25, or set TEMPORAL_ADDRESS to a Temporal server of your own.`);
  }
  await withProgress('Building the Temporal server with Go (once; a few minutes on a cold machine)', () => goBuild(file));
}

async function goBuild(file: string): Promise<void> {
  const stamp = `-X github.com/temporalio/cli/temporalcli.Version=${VERSION}`;
  const child = spawn('go', ['build', '-mod=readonly', '-ldflags', `-s -w ${stamp}`, '-o', file, 'github.com/temporalio/cli/cmd/temporal'], {
    cwd: MODULE,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const abandon = () => child.kill();
  process.once('exit', abandon);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-4_000)));
  const code = await new Promise<number | null>((done, fail) => {
    child.once('close', done);
    child.once('error', fail);
  });
  process.off('exit', abandon);
  if (code !== 0) throw new Error(`The Temporal server could not be built (go build ended with ${code}):\n${output.trim()}`);
}
