import { ApiError } from '../../infra/contract/errors.ts';
import { FORM_HEADERS_MAX_BYTES, FORM_NAME_MAX_BYTES } from '../../infra/contract/limits.ts';

/** A part as it was sent. */
export interface FormPart {
  name: string;
  /** Null for a field. A client's name for its file is for display, never a path. */
  fileName: string | null;
  /** The declared type; null where none is. */
  type: string | null;
  bytes: Buffer;
}

/** By lower-case name; the bytes of the values one by one. */
export type PartHeaders = Readonly<Record<string, string[] | undefined>>;

export function partOf(headers: PartHeaders | null, bytes: Buffer): FormPart {
  if (headers === null) throw malformed('The headers of a part do not end with an empty line.');
  refuseLongHeaders(headers);
  const disposition = only(headers, 'content-disposition') ?? '';
  const type = only(headers, 'content-type');
  const [kind = ''] = disposition.split(';');
  const { name, filename } = parametersOf(disposition);
  if (kind.trim().toLowerCase() !== 'form-data' || name === undefined || name === '') throw malformed('Each part needs Content-Disposition: form-data with a name.');
  if (Buffer.byteLength(name) > FORM_NAME_MAX_BYTES) throw tooLarge(`The name of a part is longer than ${FORM_NAME_MAX_BYTES} bytes.`, FORM_NAME_MAX_BYTES);
  return { name, fileName: filename ?? null, type, bytes };
}

export function malformed(message: string): ApiError {
  return new ApiError('MALFORMED_FORM', message);
}

/** `limit`: bytes, or how many. */
export function tooLarge(message: string, limit: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', message, { details: { limit } });
}

function refuseLongHeaders(headers: PartHeaders): void {
  const size = Object.entries(headers).flatMap(([name, values = []]) => values.map((value) => name.length + value.length + ': \r\n'.length)).reduce((sum, one) => sum + one, 0);
  if (size > FORM_HEADERS_MAX_BYTES) throw tooLarge(`The headers of a part are larger than ${FORM_HEADERS_MAX_BYTES} bytes.`, FORM_HEADERS_MAX_BYTES);
}

function only(headers: PartHeaders, name: string): string | null {
  const values = headers[name] ?? [];
  if (values.length > 1) throw malformed(`A part has ${name} twice.`);
  return values[0] === undefined ? null : Buffer.from(values[0], 'latin1').toString('utf8');
}

const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gs;

/** Browsers write quotes and line ends in names as %22, %0D, %0A; other clients put a backslash before a quote. */
function parametersOf(disposition: string): Record<string, string | undefined> {
  const found = [...disposition.matchAll(PARAMETER)].map(([, name, quoted, token]) => [name!.toLowerCase(), quoted === undefined ? token! : quoted.replaceAll(/\\(["\\])/g, '$1')] as const);
  return Object.fromEntries(found.map(([name, value]) => [name, value.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')]));
}
