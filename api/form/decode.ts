import { Dicer } from '@fastify/busboy';
import { BOUNDARY_MAX_CHARS, FORM_PARTS_MAX } from '../../infra/contract/limits.ts';
import { malformed, partOf, tooLarge, type FormPart, type PartHeaders } from './part.ts';

/** What the parser found of one part. `headers` stays null where they do not end. */
interface Raw {
  headers: PartHeaders | null;
  chunks: Buffer[];
}

/**
 * Reads `multipart/form-data`. The body was received whole and within its limit; parts are counted before the parser sees
 * them, because a body of a megabyte can hold a hundred thousand.
 */
export async function decodeForm(bytes: Buffer, contentType: string): Promise<FormPart[]> {
  const boundary = boundaryOf(contentType);
  refuseManyParts(bytes, boundary);
  const raw = await parse(bytes, boundary);
  return raw.map(({ headers, chunks }) => partOf(headers, Buffer.concat(chunks)));
}

const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i;

function boundaryOf(contentType: string): string {
  const match = BOUNDARY.exec(contentType);
  const boundary = match?.[1] ?? match?.[2] ?? '';
  if (boundary === '' || boundary.length > BOUNDARY_MAX_CHARS) throw malformed(`Content-Type needs a boundary of 1 to ${BOUNDARY_MAX_CHARS} characters. Let your HTTP client write this header.`);
  return boundary;
}

function refuseManyParts(bytes: Buffer, boundary: string): void {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  // The closing delimiter begins like the others.
  let left = FORM_PARTS_MAX + 1;
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    const isDelimiter = at === 0 || (bytes[at - 2] === 0x0d && bytes[at - 1] === 0x0a);
    if (isDelimiter && (left -= 1) < 0) throw tooLarge(`The form has more than ${FORM_PARTS_MAX} parts.`, FORM_PARTS_MAX);
  }
}

async function parse(bytes: Buffer, boundary: string): Promise<Raw[]> {
  const parts: Raw[] = [];
  const ends: Promise<void>[] = [];
  await new Promise<void>((resolve, reject) => {
    const parser = new Dicer({ boundary });
    parser.on('part', (part) => {
      const raw: Raw = { headers: null, chunks: [] };
      parts.push(raw);
      part.on('header', (headers) => {
        raw.headers = headers as PartHeaders;
      });
      part.on('data', (chunk) => raw.chunks.push(chunk as Buffer));
      // A body that ends too early is told by the parser itself.
      part.on('error', () => {});
      ends.push(new Promise((ended) => void part.on('end', ended)));
    });
    parser.on('error', () => reject(malformed('The form ends before its closing boundary.')));
    parser.on('finish', resolve);
    parser.end(bytes);
  });
  await Promise.all(ends);
  return parts;
}
