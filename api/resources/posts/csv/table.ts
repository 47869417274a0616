import { ApiError } from '../../../../infra/contract/errors.ts';
import { CSV_COLUMNS_MAX, CSV_ROWS_MAX } from '../../../../infra/contract/limits.ts';
import type { UploadedFile } from '../../../form/form.ts';
import { isColumn, REQUIRED_COLUMNS } from './columns.ts';
import { decodeText } from './decode.ts';
import { parseTable, type Delimiter, type RawRow } from './parse.ts';

/** A file whose form is right; what its rows say is not judged yet. */
export interface Table {
  columns: string[];
  rows: RawRow[];
}

const ZIP = Buffer.from('PK');

export function readTable(file: UploadedFile, delimiter: Delimiter | undefined): Table {
  refuseWorkbook(file);
  const { header, rows } = parseTable(decodeText(file.bytes), delimiter);
  if (header.length > CSV_COLUMNS_MAX) throw new ApiError('CSV_TOO_MANY_COLUMNS', `The file has more than ${CSV_COLUMNS_MAX} columns.`, { details: { limit: CSV_COLUMNS_MAX } });
  const columns = columnsOf(header);
  if (rows.length === 0) throw new ApiError('CSV_EMPTY', 'The file has no row after its header.');
  if (rows.length > CSV_ROWS_MAX) throw new ApiError('CSV_TOO_MANY_ROWS', `The file has more than ${CSV_ROWS_MAX} rows. Send it in parts.`, { details: { limit: CSV_ROWS_MAX } });
  return { columns, rows };
}

function refuseWorkbook({ name, bytes }: UploadedFile): void {
  const isZip = bytes.subarray(0, ZIP.length).equals(ZIP) && bytes.length > ZIP.length + 1 && bytes[2]! < 0x09 && bytes[3]! < 0x09;
  if (isZip || name.toLowerCase().endsWith('.xlsx')) throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'This is a workbook. Save the sheet as CSV and send that.');
}

function columnsOf(header: readonly string[]): string[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const details = {
    missing: REQUIRED_COLUMNS.filter((name) => !names.includes(name)),
    duplicate: [...new Set(names.filter((name, index) => names.indexOf(name) !== index))],
    unknown: [...new Set(names.filter((name) => !isColumn(name)))].map((name) => name.slice(0, 64)),
  };
  const faults = Object.entries(details).filter(([, found]) => found.length > 0);
  if (faults.length === 0) return names;
  throw new ApiError('CSV_HEADER_INVALID', `The header has columns that are ${faults.map(([kind]) => kind).join(' and ')}. See details, and write the names as documented.`, { details: Object.fromEntries(faults) });
}
