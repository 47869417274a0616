import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { RingKey } from '../config/secrets.ts';

/** Where a sealed value lives. A ciphertext moved to another row, column or organization does not open. */
export interface Place {
  table: string;
  column: string;
  row: string;
  organizationId: string;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/**
 * Envelope encryption: each value has its own data key (AES-256-GCM), wrapped by the active key of the ring.
 * Layout: version, length and id of the wrapping key, wrapped data key, nonce, tag, ciphertext.
 */
export function seal(ring: readonly RingKey[], place: Place, plain: Buffer): Buffer {
  const active = ring[0]!;
  const dataKey = randomBytes(KEY_BYTES);
  const id = Buffer.from(active.id);
  return Buffer.concat([Buffer.from([VERSION, id.length]), id, encrypt(active.key, wrapping(place), dataKey), encrypt(dataKey, associated(place), plain)]);
}

export function unseal(ring: readonly RingKey[], place: Place, sealed: Buffer): Buffer {
  const { keyId, wrapped, body } = split(sealed);
  const key = ring.find((one) => one.id === keyId);
  if (key === undefined) throw new Error(`no key ${keyId} in the ring to open ${place.table}.${place.column}`);
  return decrypt(decrypt(key.key, wrapping(place), wrapped), associated(place), body);
}

function split(sealed: Buffer): { keyId: string; wrapped: Buffer; body: Buffer } {
  if (sealed[0] !== VERSION) throw new Error('unknown form of a sealed value');
  const idEnd = 2 + sealed[1]!;
  const wrappedEnd = idEnd + NONCE_BYTES + TAG_BYTES + KEY_BYTES;
  return { keyId: sealed.subarray(2, idEnd).toString(), wrapped: sealed.subarray(idEnd, wrappedEnd), body: sealed.subarray(wrappedEnd) };
}

function associated(place: Place): Buffer {
  return Buffer.from(JSON.stringify([place.table, place.column, place.row, place.organizationId]));
}

function wrapping(place: Place): Buffer {
  return Buffer.concat([Buffer.from('data key of '), associated(place)]);
}

function encrypt(key: Buffer, aad: Buffer, plain: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function decrypt(key: Buffer, aad: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES)).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
