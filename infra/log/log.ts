import { pino, type Logger } from 'pino';

export type Log = Logger;

/** Our own secret forms, should one ever reach a message: the last net, not the first. */
const SECRET_FORMS = /svc_(?:live|test|session|inv|code)_[0-9A-Za-z]+|sandbox-[0-9a-f]{32}-\d+-\w+|whsec_[\w+/=]+|Bearer\s+[^\s"\\]+|(?:access_token|refresh_token|client_secret|password)=[^&\s"\\]+|:\/\/[^/\s:@"\\]+:[^/\s@"\\]+@/gi;

export function scrub(text: string): string {
  return text.replace(SECRET_FORMS, '[secret]');
}

/**
 * One logger per process, one child per subsystem. Fields are ids, enums, numbers and durations;
 * errors are written as their kind and code, because messages of libraries may hold what they were given.
 */
export function openLog(options: { process: string; level: string }): Log {
  return pino({
    level: options.level,
    base: { process: options.process, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: errorFields },
  }, { write: (line: string) => process.stdout.write(scrub(line)) });
}

/** What may be said of an error: its kind, its code and our own frames. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { kind: typeof error };
  const code = (error as { code?: unknown }).code;
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at ') && !line.includes('node_modules') && !line.includes('node:')).slice(0, 6).map((line) => line.trim().replace(/file:\/\/.*\/(?=(?:api|workflows|activities|workers|providers|infra|test)\/)/, ''));
  return {
    kind: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(frames.length > 0 ? { frames } : {}),
    ...(error.cause instanceof Error ? { cause: errorFields(error.cause) } : {}),
  };
}
