import { ConfigError, readConfig } from '../../infra/config/config.ts';
import { Secrets } from '../../infra/config/secrets.ts';
import { stopWithParent } from '../../infra/servers/parent.ts';
import { sandboxLog, type Log } from './log.ts';
import { openSandbox } from './open.ts';

/** Process entry: configuration, store, server; stops on a signal, and with the process that started it. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const secrets = new Secrets(process.env);
  const log = sandboxLog(config.logLevel);
  const { baseUrl, sandbox, host, sandboxPort: port } = config;
  const settings = { baseUrl, url: sandbox.url, latencyMs: sandbox.latencyMs, duplicates: sandbox.duplicates, secret: secrets.sandboxSecret };
  const open = await openSandbox({ settings, databaseUrl: secrets.sandboxDatabaseUrl, host, port, log }).catch((error: unknown) => fail(error, log));
  log.info('listening', { host, port });
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    log.info('stopping');
    open.close().then(() => process.exit(0), (error: unknown) => fail(error, log));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  stopWithParent(stop);
}

function fail(error: unknown, log: Log): never {
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') process.stderr.write('The port of the sandbox is taken. ONCEPOST_SANDBOX_PORT names another one.\n');
  log.failed('failed', error);
  process.exit(1);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : 'The sandbox could not start.'}\n`);
  process.exit(1);
});
