import type { IncomingMessage } from 'node:http';

export interface Body {
  bytes: Buffer;
  contentType: string;
  /** Larger than any platform takes. The rest was not read. */
  tooLarge: boolean;
  /** The caller went away, or was cut off, before the end. */
  broken: boolean;
}

const BODY_MAX_BYTES = 110 * 1_048_576;
/** Shorter bodies arrive in one piece, and then there is no half to stop at. */
const MIDWAY_FROM_BYTES = 16_384;

/**
 * Reads a request body. `onHalf` is asked once, when half of a long body is here, and may say that the rest is not to be read.
 */
export async function readBody(request: IncomingMessage, onHalf: (bytes: Buffer) => Promise<boolean>): Promise<Body> {
  const contentType = request.headers['content-type'] ?? '';
  const expected = Number(request.headers['content-length'] ?? 0);
  const chunks: Buffer[] = [];
  let length = 0;
  let asked = expected < MIDWAY_FROM_BYTES;
  try {
    // The iterator must not close the socket: how it ends is the business of misbehave.ts.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > BODY_MAX_BYTES) return { bytes: Buffer.concat(chunks), contentType, tooLarge: true, broken: false };
      if (asked || length < expected / 2 || length >= expected) continue;
      asked = true;
      if (await onHalf(Buffer.concat(chunks))) return { bytes: Buffer.concat(chunks), contentType, tooLarge: false, broken: true };
    }
  } catch {
    return { bytes: Buffer.concat(chunks), contentType, tooLarge: false, broken: true };
  }
  return { bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), contentType, tooLarge: false, broken: false };
}

export function parseJson(body: Body): unknown {
  try {
    return JSON.parse(body.bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

export interface Part {
  name: string;
  filename: string | null;
  contentType: string | null;
  content: Buffer;
}

/** The parts of a multipart body, or `null` when it is not one. */
export function parseMultipart(body: Body): Part[] | null {
  const boundary = /^multipart\/form-data\s*;.*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(body.contentType);
  if (boundary === null) return null;
  const delimiter = Buffer.from(`--${boundary[1] ?? boundary[2]}`);
  const end = Buffer.concat([Buffer.from('\r\n'), delimiter]);
  const parts: Part[] = [];
  let at = body.bytes.indexOf(delimiter);
  while (at >= 0) {
    const start = at + delimiter.length;
    if (body.bytes.subarray(start, start + 2).toString() === '--') return parts;
    const stop = body.bytes.indexOf(end, start);
    if (stop < 0) return null;
    const part = readPart(body.bytes.subarray(start + 2, stop));
    if (part !== null) parts.push(part);
    at = stop + 2;
  }
  return null;
}

function readPart(bytes: Buffer): Part | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = bytes.subarray(0, headEnd).toString('utf8');
  const name = /content-disposition:[^\r\n]*[;\s]name="([^"]*)"/i.exec(head)?.[1];
  if (name === undefined) return null;
  return {
    name,
    filename: /content-disposition:[^\r\n]*[;\s]filename="([^"]*)"/i.exec(head)?.[1] ?? null,
    contentType: /content-type:\s*([^\r\n]+)/i.exec(head)?.[1]?.trim() ?? null,
    content: bytes.subarray(headEnd + 4),
  };
}

/** The fields of a form, urlencoded or multipart, with repeated names kept. Files are left out. */
export function parseForm(body: Body): [string, string][] | null {
  if (/^application\/x-www-form-urlencoded\b/i.test(body.contentType)) return [...new URLSearchParams(body.bytes.toString('utf8'))];
  const parts = parseMultipart(body);
  return parts === null ? null : parts.filter((part) => part.filename === null).map((part) => [part.name, part.content.toString('utf8')]);
}
