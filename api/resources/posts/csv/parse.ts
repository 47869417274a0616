import { parse } from 'csv-parse/sync';
import { ApiError } from '../../../../infra/contract/errors.ts';
import { CSV_ROWS_MAX } from '../../../../infra/contract/limits.ts';

export const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t' } as const;
export type Delimiter = keyof typeof DELIMITERS;

/** A row as it stands in the file. */
export interface RawRow {
  /** 1 for the first row after the header. */
  row: number;
  /** Of the file, where the row begins. */
  line: number;
  cells: string[];
}

export interface RawTable {
  header: string[];
  rows: RawRow[];
}

/** Rows and cells by RFC 4180, one more row than may be at most, so that too many are known without reading them all. */
export function parseTable(text: string, asked: Delimiter | undefined): RawTable {
  const bytes = Buffer.from(text);
  const lines = new Lines(bytes);
  const rows: RawRow[] = [];
  try {
    parse(bytes, {
      delimiter: asked === undefined ? likeliest(text) : DELIMITERS[asked], record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true, bom: false, to: CSV_ROWS_MAX + 2,
      on_record: (cells: string[], { bytes: end }) => {
        rows.push({ row: rows.length, line: lines.current, cells });
        lines.advance(end);
        return null;
      },
    });
  } catch (error) {
    throw isOfQuotes(error) ? malformed('Quotes are not balanced, or text follows a closing quote. Put cells with quotes in quotes, and write each quote inside twice.', { row: rows.length, line: lines.current }) : error;
  }
  const nul = rows.find(({ cells }) => cells.some((cell) => cell.includes('\0')));
  if (nul !== undefined) throw malformed('A cell holds U+0000.', { row: nul.row, line: nul.line });
  return { header: rows[0]?.cells ?? [], rows: rows.slice(1) };
}

/** An error's class is not asked: under Jest the library is of another realm. */
function isOfQuotes(error: unknown): boolean {
  return typeof error === 'object' && error !== null && /QUOTE/.test(String((error as { code?: unknown }).code));
}

function malformed(message: string, details: { row: number; line: number }): ApiError {
  return new ApiError('CSV_MALFORMED', `${message} See row ${details.row} in line ${details.line}.`, { details });
}

/** Counts lines as an editor does, line breaks inside quotes included. */
class Lines {
  readonly #bytes: Buffer;
  #at = 0;
  current = 1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** To the byte at which the next row begins. */
  advance(end: number): void {
    for (; this.#at < end; this.#at += 1) {
      const byte = this.#bytes[this.#at];
      if (byte === 0x0a || (byte === 0x0d && this.#bytes[this.#at + 1] !== 0x0a)) this.current += 1;
    }
  }
}

/** Whichever occurs most in the header outside quotes; comma where two do. */
function likeliest(text: string): string {
  const counts = new Map<string, number>(Object.values(DELIMITERS).map((delimiter) => [delimiter, 0]));
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (character === '\n' || character === '\r') break;
    if (counts.has(character)) counts.set(character, counts.get(character)! + 1);
  }
  const most = Math.max(...counts.values());
  const [first = DELIMITERS.comma, ...others] = [...counts].filter(([, count]) => count === most).map(([delimiter]) => delimiter);
  return others.length === 0 ? first : DELIMITERS.comma;
}
