import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { RingKey } from '../config/secrets.ts';

/** Form of every secret we hand out: prefix, 43 characters base62 (256 random bits), 6 characters base62 of the CRC-32 over both. */
export const BEARER_PREFIXES = { live: 'svc_live_', test: 'svc_test_', session: 'svc_session_', invite: 'svc_inv_', code: 'svc_code_' } as const;
export type BearerPrefix = (typeof BEARER_PREFIXES)[keyof typeof BEARER_PREFIXES];

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_CHARS = 43;
const CHECK_CHARS = 6;

export function newBearer(prefix: BearerPrefix): string {
  const body = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), BODY_CHARS);
  return prefix + body + checksum(prefix + body);
}

/** The prefix of a secret whose form and checksum are right; null otherwise, without asking anybody. */
export function bearerPrefix(secret: string): BearerPrefix | null {
  const prefix = Object.values(BEARER_PREFIXES).find((one) => secret.startsWith(one));
  if (prefix === undefined || secret.length !== prefix.length + BODY_CHARS + CHECK_CHARS) return null;
  const signed = secret.slice(0, -CHECK_CHARS);
  if (!/^[0-9A-Za-z]+$/.test(secret.slice(prefix.length))) return null;
  return checksum(signed) === secret.slice(-CHECK_CHARS) ? prefix : null;
}

/** What is stored instead of the secret. */
export function bearerDigest(pepper: RingKey, secret: string): Buffer {
  return createHmac('sha256', pepper.key).update(secret).digest();
}

export function bearerHints(prefix: BearerPrefix, secret: string): { start: string; last4: string } {
  return { start: secret.slice(0, prefix.length + 4), last4: secret.slice(-4) };
}

function checksum(signed: string): string {
  return base62(BigInt(crc32(signed)), CHECK_CHARS);
}

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET[Number(rest % 62n)]! + text;
  return text.padStart(width, '0');
}
