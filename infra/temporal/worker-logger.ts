import type { Log } from '../log/log.ts';

type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

/** What the Temporal SDK says, in our log: message and ids, never payloads. */
export function workerLogger(log: Log) {
  const temporal = log.child({ subsystem: 'temporal' });
  const write = (level: Level, message: string, meta: Record<string, unknown> = {}) => {
    const { workflowId, runId, activityType, workflowType, taskQueue, attempt, error } = meta;
    const fields = { workflowId, runId, activityType, workflowType, taskQueue, attempt, ...(error === undefined ? {} : { err: error }) };
    temporal[level === 'WARN' ? 'warn' : level === 'ERROR' ? 'error' : level === 'INFO' ? 'info' : 'debug'](fields, message);
  };
  return {
    log: write,
    trace: (message: string, meta?: Record<string, unknown>) => write('TRACE', message, meta),
    debug: (message: string, meta?: Record<string, unknown>) => write('DEBUG', message, meta),
    info: (message: string, meta?: Record<string, unknown>) => write('INFO', message, meta),
    warn: (message: string, meta?: Record<string, unknown>) => write('WARN', message, meta),
    error: (message: string, meta?: Record<string, unknown>) => write('ERROR', message, meta),
  };
}
