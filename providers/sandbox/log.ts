/** One JSON line per event. Fields only, and never a credential, a text or a body: the ledger is where those may be read. */
export interface Log {
  (event: string, fields?: Record<string, string | number | boolean | null>): void;
}

export const logToStdout: Log = (event, fields = {}) => {
  process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), process: 'sandbox', event, ...fields })}\n`);
};

/** What may be said of a thrown thing: its class and code. Messages can quote values, and values can be secrets. */
export function nameOfError(error: unknown): { error: string; code: string | null } {
  if (!(error instanceof Error)) return { error: typeof error, code: null };
  const code = (error as { code?: unknown }).code;
  return { error: error.name, code: typeof code === 'string' ? code : null };
}
