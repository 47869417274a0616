import { randomBytes } from 'node:crypto';
import type { MultipartPart, PartSource } from './types.ts';

/** A body in pieces whose lengths are known, so that it can carry a content-length and still be read piece by piece. */
export type Piece = Buffer | PartSource;

export interface EncodedMultipart {
  contentType: string;
  pieces: Piece[];
}

/** RFC 7578. Quotes and line ends in names are percent-encoded, as browsers do. */
export function encodeMultipart(parts: readonly MultipartPart[]): EncodedMultipart {
  const boundary = `oncepost-${randomBytes(18).toString('hex')}`;
  const pieces: Piece[] = [];
  for (const part of parts) {
    const filename = part.filename === undefined ? '' : `; filename="${quotable(part.filename)}"`;
    const type = part.contentType === undefined ? '' : `content-type: ${part.contentType.replace(/[\r\n]/g, '')}\r\n`;
    pieces.push(Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quotable(part.name)}"${filename}\r\n${type}\r\n`));
    pieces.push(typeof part.content === 'string' ? Buffer.from(part.content) : part.content, Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, pieces };
}

function quotable(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
