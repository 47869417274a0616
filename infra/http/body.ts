import { encodeMultipart, type Piece } from './multipart.ts';
import type { ProviderRequest } from './types.ts';

/** Small bodies leave in one write together with the headers; larger ones in chunks, so that `bodySent` means what it says. */
const CHUNK_BYTES = 65_536;

export interface EncodedBody {
  contentType: string | null;
  length: number;
  content: Buffer | AsyncIterable<Buffer> | null;
}

export function encodeBody(request: ProviderRequest): EncodedBody {
  if (request.json !== undefined) return whole('application/json', Buffer.from(JSON.stringify(request.json)));
  if (request.form !== undefined) return whole('application/x-www-form-urlencoded', Buffer.from(new URLSearchParams(request.form).toString()));
  if (request.bytes !== undefined) return whole(request.bytes.contentType, request.bytes.content);
  if (request.multipart === undefined) return { contentType: null, length: 0, content: null };
  const { contentType, pieces } = encodeMultipart(request.multipart);
  const inMemory = pieces.filter((piece) => Buffer.isBuffer(piece));
  if (inMemory.length === pieces.length) return whole(contentType, Buffer.concat(inMemory));
  return { contentType, length: lengthOf(pieces), content: inChunks(pieces) };
}

function whole(contentType: string, content: Buffer): EncodedBody {
  return { contentType, length: content.length, content: content.length <= CHUNK_BYTES ? content : inChunks([content]) };
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : piece.bytes), 0);
}

async function* inChunks(pieces: readonly Piece[]): AsyncIterable<Buffer> {
  for (const piece of pieces) {
    const length = lengthOf([piece]);
    for (let from = 0; from < length; from += CHUNK_BYTES) {
      const to = Math.min(from + CHUNK_BYTES, length);
      yield Buffer.isBuffer(piece) ? piece.subarray(from, to) : await piece.read(from, to);
    }
  }
}
