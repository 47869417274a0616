import type { IncomingHttpHeaders } from 'node:http';

/** The token of `Authorization: Bearer`. */
export function bearer(headers: IncomingHttpHeaders): string | null {
  return /^Bearer ([^\s]+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}
