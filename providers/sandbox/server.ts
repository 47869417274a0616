import { ConfigError, readConfig } from '../../infra/config/config.ts';
import { Secrets } from '../../infra/config/secrets.ts';
import { logToStdout, nameOfError } from './log.ts';
import { openSandbox } from './open.ts';

/** Process entry: configuration, store, server; stops on a signal, and with the process that started it. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const secrets = new Secrets(process.env);
  const sandbox = await openSandbox({
    settings: {
      baseUrl: config.baseUrl, url: config.sandbox.url, latencyMs: config.sandbox.latencyMs, duplicates: config.sandbox.duplicates, secret: secrets.sandboxSecret,
    },
    databaseUrl: secrets.sandboxDatabaseUrl, host: config.host, port: config.sandboxPort, log: logToStdout,
  });
  logToStdout('listening', { host: config.host, port: config.sandboxPort });
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    logToStdout('stopping');
    sandbox.close().then(() => process.exit(0), (error: unknown) => fail(error));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Started by another process: without it there is nobody to stop this one.
  if (process.connected) process.on('disconnect', stop);
}

function fail(error: unknown): void {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') process.stderr.write('The port of the sandbox is taken. ONCEPOST_SANDBOX_PORT names another one.\n');
  logToStdout('failed', nameOfError(error));
  process.exit(1);
}

main().catch(fail);
