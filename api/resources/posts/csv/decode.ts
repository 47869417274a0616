import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../../../infra/contract/errors.ts';

const BYTES_PER_UNIT = 2;
const UTF_16_LE = Buffer.from([0xff, 0xfe]);
const UTF_16_BE = Buffer.from([0xfe, 0xff]);
const UTF_32_LE = Buffer.from([0xff, 0xfe, 0, 0]);
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** The text of a file: UTF-8, or UTF-16 where a byte order mark says so. The mark is dropped. */
export function decodeText(bytes: Buffer): string {
  if (begins(bytes, UTF_32_LE)) throw invalid(0);
  if (begins(bytes, UTF_16_LE)) return utf16(bytes.subarray(BYTES_PER_UNIT));
  if (begins(bytes, UTF_16_BE)) return utf16(Buffer.from(bytes.subarray(BYTES_PER_UNIT, bytes.length - (bytes.length % BYTES_PER_UNIT))).swap16(), bytes.length);
  if (!isUtf8(bytes)) throw invalid(firstFault(bytes));
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

function begins(bytes: Buffer, mark: Buffer): boolean {
  return bytes.subarray(0, mark.length).equals(mark);
}

/** `size`: of the whole file, whose odd byte at the end is half a unit. */
function utf16(units: Buffer, size: number = units.length + BYTES_PER_UNIT): string {
  const text = units.toString('utf16le');
  const lone = LONE_SURROGATE.exec(text);
  if (lone !== null) throw invalid(BYTES_PER_UNIT + lone.index * BYTES_PER_UNIT);
  if (size % BYTES_PER_UNIT === 1) throw invalid(size - 1);
  return text;
}

/** Decoding puts a replacement character where bytes are no UTF-8; one that the file has itself is three bytes of it. */
function firstFault(bytes: Buffer): number {
  const text = bytes.toString('utf8');
  let offset = 0;
  let from = 0;
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    if (bytes.toString('hex', offset, offset + 3) !== 'efbfbd') return offset;
    offset += 3;
    from = at + 1;
  }
  return offset;
}

function invalid(offset: number): ApiError {
  return new ApiError('CSV_ENCODING_INVALID', `The file is not valid UTF-8 (see byte ${offset}). Save it as UTF-8, or as UTF-16 with a byte order mark.`, { details: { offset } });
}
