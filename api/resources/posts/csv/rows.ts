import { ApiError } from '../../../../infra/contract/errors.ts';
import { CONTENT_MAX_CHARS, CSV_CELL_MAX_CHARS, EXTERNAL_ID_MAX_CHARS, TAGS_OF_POST_MAX } from '../../../../infra/contract/limits.ts';
import { bodyOf, listOf } from './columns.ts';
import type { RawRow } from './parse.ts';
import { columnError, RowRefusal } from './refusal.ts';

/** What every row of a request takes that says nothing else. */
export interface RowDefaults {
  timezone?: string;
  workspace_id?: string;
}

interface Place {
  row: number;
  line: number;
  externalId: string | null;
}

/** A row as it was read: nothing in it, refused as it stands, or the body of a creation with the names of its tags. */
export type ReadRow = Place & (
  | { kind: 'skipped' }
  | { kind: 'refused'; error: ApiError | RowRefusal }
  | { kind: 'body'; body: Record<string, unknown>; tagNames: string[] }
);

export function readRow(raw: RawRow, columns: readonly string[], defaults: RowDefaults): ReadRow {
  const cells = new Map(columns.map((column, index) => [column, raw.cells[index] ?? '']));
  const externalId = cells.get('external_id') ?? '';
  const place = { row: raw.row, line: raw.line, externalId: externalId.trim() === '' || isLong(externalId, EXTERNAL_ID_MAX_CHARS) ? null : externalId };
  if (raw.cells.every((cell) => cell.trim() === '')) return { ...place, kind: 'skipped' };
  try {
    refuseForm(raw.cells, cells);
    return { ...place, kind: 'body', body: { ...defaults, ...bodyOf(cells) }, tagNames: listOf(cells.get('tags') ?? '', ';', { column: 'tags', max: TAGS_OF_POST_MAX }) };
  } catch (error) {
    if (error instanceof RowRefusal || error instanceof ApiError) return { ...place, kind: 'refused', error };
    throw error;
  }
}

function refuseForm(all: readonly string[], cells: ReadonlyMap<string, string>): void {
  if (all.length > cells.size) throw new RowRefusal('CSV_ROW_WIDTH', `The row has ${all.length} cells and the header ${cells.size}. Put cells that hold the delimiter in quotes.`, { cells: all.length, columns: cells.size });
  for (const [column, cell] of cells) {
    const limit = column === 'content' ? CONTENT_MAX_CHARS : CSV_CELL_MAX_CHARS;
    if (isLong(cell, limit)) throw new RowRefusal('CSV_CELL_TOO_LONG', `${column} has more than ${limit} characters.`, { column, limit });
  }
  if (isLong(cells.get('external_id') ?? '', EXTERNAL_ID_MAX_CHARS)) throw columnError('external_id', { code: 'too_big', message: `external_id must have at most ${EXTERNAL_ID_MAX_CHARS} characters` });
}

function isLong(text: string, limit: number): boolean {
  return text.length > limit && [...text].length > limit;
}
