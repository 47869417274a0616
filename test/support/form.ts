/** A part of a form as a client writes it. */
export interface SentPart {
  name?: string;
  fileName?: string;
  type?: string;
  content: string | Buffer;
  /** In place of the headers that the rest gives. */
  headers?: string;
}

export const BOUNDARY = 'a-boundary-of-a-test';

/** Bytes of a multipart body, whole unless a test cuts them. */
export function formBytes(parts: readonly SentPart[], boundary: string = BOUNDARY): Buffer {
  const pieces = parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n${part.headers ?? headersOf(part)}\r\n\r\n`), Buffer.from(part.content as string), Buffer.from('\r\n')]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

export function formType(boundary: string = BOUNDARY): string {
  return `multipart/form-data; boundary=${boundary}`;
}

function headersOf({ name, fileName, type }: SentPart): string {
  const disposition = ['form-data', ...(name === undefined ? [] : [`name="${name}"`]), ...(fileName === undefined ? [] : [`filename="${fileName}"`])].join('; ');
  return [`Content-Disposition: ${disposition}`, ...(type === undefined ? [] : [`Content-Type: ${type}`])].join('\r\n');
}
