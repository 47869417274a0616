import { errorFields, openLog } from '../../infra/log/log.ts';

/** What the sandbox says of itself. Never a credential, a text or a body: the ledger is where those may be read. */
export interface Log {
  info(event: string, fields?: Record<string, string | number | boolean | null>): void;
  failed(event: string, error: unknown): void;
}

export function sandboxLog(level: string): Log {
  const log = openLog({ process: 'sandbox', level });
  return {
    info: (event, fields = {}) => log.info(fields, event),
    failed: (event, error) => log.error({ err: errorFields(error) }, event),
  };
}

/** For tests, which look at answers. */
export const silentLog: Log = { info: () => undefined, failed: () => undefined };
