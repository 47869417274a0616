import { Launcher } from './launcher.ts';
import { stopWithParent } from './parent.ts';
import { readSettings } from './settings.ts';

/*
 * Entry of `npm start` and `npm run dev`. One Ctrl-C lets everything finish; a second one ends it at once.
 */

/** One Ctrl-C arrives several times within moments: from the terminal, from npm, and from the bootstrap. */
const SAME_KEYSTROKE_MS = 500;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  const launcher = new Launcher(readSettings(process.env, process.argv.slice(2)), process.env, say);
  const ending = stopOnSignals(launcher);
  try {
    await launcher.start();
  } catch (error) {
    if (!launcher.isStopping) {
      process.stderr.write(`${(error as Error).message}\n`);
      await launcher.stop();
      return 1;
    }
  }
  await ending;
  say('Stopped.');
  return 0;
}

function stopOnSignals(launcher: Launcher): Promise<void> {
  return new Promise((resolve, reject) => {
    let firstAt = 0;
    const onSignal = () => {
      if (firstAt === 0) {
        firstAt = Date.now();
        launcher.stop().then(resolve, reject);
      } else if (Date.now() - firstAt > SAME_KEYSTROKE_MS) {
        void launcher.kill();
      }
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    stopWithParent(onSignal);
  });
}

// The terminal may be gone by the time we say goodbye.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
