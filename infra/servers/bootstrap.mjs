/*
 * The first step of every npm script. Runs on any Node from 18, with nothing installed: brings node_modules to what package-lock.json
 * says, then hands over to the Node that is installed there.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const NODE = join(MODULES, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const STAMP = join(MODULES, '.oncepost-lock');
const LAUNCHER = join(ROOT, 'infra', 'servers', 'start.ts');
const PARENT_CHECK_MS = 500;

const COMMANDS = {
  start: (rest) => launch([LAUNCHER, ...rest]),
  dev: (rest) => launch([LAUNCHER, '--dev', ...rest]),
  test,
  migrate: (rest) => run([join(ROOT, 'infra', 'db', 'migrate.ts'), ...rest]),
  bench: (rest) => run([join(ROOT, 'test', 'bench', 'bench.ts'), ...rest]),
};

const [, , name = '', ...rest] = process.argv;
if (!Object.hasOwn(COMMANDS, name)) {
  console.error(`Usage: node infra/servers/bootstrap.mjs ${Object.keys(COMMANDS).join('|')}`);
  process.exit(2);
}
await install();
process.exitCode = await COMMANDS[name](rest);

async function install() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const hash = createHash('sha256').update(lock).digest('hex');
  if (existsSync(NODE) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return;
  if (!isInstalled(JSON.parse(lock))) await runNpmCi();
  writeFileSync(STAMP, hash);
}

/** True when npm's own record of node_modules holds every locked package, as after an `npm install` by hand. */
function isInstalled(lock) {
  const record = join(MODULES, '.package-lock.json');
  if (!existsSync(NODE) || !existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '') return true;
    const found = installed[path];
    // Packages for other machines are locked too, and not installed.
    if (found === undefined) return wanted.optional === true || wanted.devOptional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

async function runNpmCi() {
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  console.log('Installing the locked packages (npm ci)');
  const timer = setInterval(() => console.log(`Installing the locked packages … ${seconds()}`), 5_000);
  const npmCli = process.env.npm_execpath ?? '';
  const [command, ...first] = basename(npmCli) === 'npm-cli.js' ? [process.execPath, npmCli] : ['npm'];
  // The level is given because a quiet `npm --silent` around us would hide why an installation fails.
  const code = await hold(spawn(command, [...first, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: ROOT, stdio: 'inherit' }));
  clearInterval(timer);
  if (code !== 0) {
    console.error(`npm ci failed (exit code ${code}); its messages are above.`);
    process.exit(code);
  }
  if (!existsSync(NODE)) {
    console.error(`npm ci left no ${NODE}: the install script of the package "node" must be allowed to run.`);
    process.exit(1);
  }
  console.log(`Installed the locked packages: ${seconds()}`);
}

/** The launcher gets a channel to us, by which it notices our end; we notice the end of npm by a change of our ancestors. */
function launch(args) {
  const child = spawn(NODE, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  if (process.env.npm_lifecycle_event !== undefined) {
    const npm = lineToNpm();
    setInterval(() => lineToNpm() !== npm && child.kill('SIGTERM'), PARENT_CHECK_MS).unref();
  }
  return hold(child);
}

/** Our parent, which is npm or the shell that npm called us by; behind a shell, npm is the shell's parent. */
function lineToNpm() {
  try {
    const isShell = readFileSync(`/proc/${process.ppid}/cmdline`, 'utf8').split('\0')[1] === '-c';
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    return isShell ? `${process.ppid} ${stat.slice(stat.lastIndexOf(')')).split(' ')[2]}` : String(process.ppid);
  } catch {
    return String(process.ppid);
  }
}

function run(args) {
  return hold(spawn(NODE, args, { cwd: ROOT, stdio: 'inherit' }));
}

/** Runs the tests and closes with the one line that scripts read. */
async function test(args) {
  const prepared = await run([join(ROOT, 'infra', 'servers', 'prepare.ts')]);
  if (prepared !== 0) return prepared;
  const folder = mkdtempSync(join(tmpdir(), 'oncepost-test-'));
  const results = join(folder, 'results.json');
  const jest = join(MODULES, 'jest', 'bin', 'jest.js');
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  process.env.TEST_POSTGRES_TEMPLATE = join(folder, 'postgres');
  const code = await run([...flags, jest, '--runInBand', '--json', `--outputFile=${results}`, ...args]);
  const { passed, failed } = countsOf(results);
  rmSync(folder, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed`);
  return code;
}

/** A file that could not even be loaded counts as one failure, and so does a run that ended without results. */
function countsOf(file) {
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = JSON.parse(readFileSync(file, 'utf8'));
  return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
}

/** Passes signals on and resolves with the child's exit code, in the shell's way when a signal ended it. */
function hold(child) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const pass = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, pass);
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve(127);
    });
    child.once('exit', (code, signal) => {
      for (const one of signals) process.off(one, pass);
      if (child.connected) child.disconnect();
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}
