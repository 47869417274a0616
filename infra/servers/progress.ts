/**
 * Says how long a slow step has been going on. Silent for steps that end within a second, so that a warm start stays quiet.
 * On a terminal the line counts up in place; elsewhere a new line comes now and then.
 */
export async function withProgress<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  const isTerminal = process.stdout.isTTY === true;
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    if (isTerminal) process.stdout.write(`\r${what} … ${seconds()} s`);
    else if (ticks === 1 || ticks % 10 === 0) process.stdout.write(`${what} … ${seconds()} s\n`);
  }, 1_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (ticks > 0) process.stdout.write(isTerminal ? `\r${what}: ${seconds()} s\n` : `${what}: ${seconds()} s\n`);
  }
}
