import { describe, expect, test } from '@jest/globals';
import { readTable } from '../../api/resources/posts/csv/table.ts';
import type { Delimiter } from '../../api/resources/posts/csv/parse.ts';
import { ApiError } from '../../infra/contract/errors.ts';

const HEADER = 'targets,scheduled_at,content';
const read = (content: string | Buffer, { name = 'a.csv', delimiter }: { name?: string; delimiter?: Delimiter } = {}) => readTable({ name, type: null, bytes: Buffer.from(content as string) }, delimiter);
const cellsOf = (...args: Parameters<typeof read>) => read(...args).rows.map((row) => row.cells);

function faultOf(...args: Parameters<typeof read>): [string, Record<string, unknown> | undefined] {
  try {
    read(...args);
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.details];
    throw error;
  }
  throw new Error('the table was read');
}

const utf16le = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
const utf16be = (text: string) => utf16le(text).swap16();

describe('encodings', () => {
  const text = `${HEADER}\na,now,"Größe 😀 \uFFFD 漢"\n`;
  test.each([['UTF-8', Buffer.from(text)], ['UTF-8 with a mark', Buffer.from(`\uFEFF${text}`)], ['UTF-16 LE', utf16le(text)], ['UTF-16 BE', utf16be(text)]])('%s', (_name, bytes) => {
    expect(cellsOf(bytes)).toEqual([['a', 'now', 'Größe 😀 \uFFFD 漢']]);
  });

  const at = (bytes: Buffer, fault: number[]) => Buffer.concat([bytes, Buffer.from(fault), Buffer.from('\n')]);
  const start = Buffer.from(`${HEADER}\na,now,ü\uFFFD😀`);
  const wrong: [string, Buffer, number][] = [
    ['Latin-1', at(start, [0xfc]), start.length], ['half a character', at(start, [0xe2, 0x82]), start.length], ['an overlong form', at(start, [0xc0, 0xaf]), start.length], ['a surrogate in UTF-8', at(start, [0xed, 0xa0, 0x80]), start.length],
    ['an end inside a character', Buffer.concat([start, Buffer.from([0xf0, 0x9f])]), start.length], ['the first byte', Buffer.from([0x80]), 0], ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x74, 0, 0, 0]), 0],
    ['half a unit of UTF-16 LE', Buffer.concat([utf16le('ab'), Buffer.from([0x61])]), 6], ['half a unit of UTF-16 BE', Buffer.concat([utf16be('ab'), Buffer.from([0x61])]), 6],
    ['a lone surrogate in UTF-16 LE', utf16le('ab\uD800c'), 6], ['a lone surrogate in UTF-16 BE', utf16be('a\uDC00'), 4],
  ];
  test.each(wrong)('%s is refused at its byte', (_name, bytes, offset) => {
    expect(faultOf(bytes)).toEqual(['CSV_ENCODING_INVALID', { offset }]);
  });

  test.each([['the bytes of a zip', Buffer.from('PK\u0003\u0004 and so on'), 'a.csv'], ['the name of a workbook', Buffer.from(text), 'A.XLSX']])('%s are no CSV', (_name, bytes, name) => {
    expect(faultOf(bytes, { name })[0]).toBe('UNSUPPORTED_MEDIA_TYPE');
  });

  test('a file that begins with the letters of a zip is none', () => {
    expect(faultOf('PKG,x\n1,2\n')[0]).toBe('CSV_HEADER_INVALID');
  });

  test.each([['UTF-8', Buffer.from(`${HEADER}\na,now,x\nb,now,a\0b\n`)], ['UTF-16', utf16le(`${HEADER}\na,now,x\nb,now,a\0b\n`)]])('NUL in %s', (_name, bytes) => {
    expect(faultOf(bytes)).toEqual(['CSV_MALFORMED', { row: 2, line: 3 }]);
  });

  test('UTF-16 without a mark is full of NUL', () => {
    expect(faultOf(Buffer.from(text, 'utf16le'))[0]).toMatch(/^CSV_(?:MALFORMED|ENCODING_INVALID)$/);
  });
});

describe('delimiters', () => {
  test.each([[','], [';'], ['\t']])('%j is found in the header', (delimiter) => {
    expect(cellsOf(`${HEADER.replaceAll(',', delimiter)}\na${delimiter}now${delimiter}x\n`)).toEqual([['a', 'now', 'x']]);
  });

  test('what is inside quotes, and what is not in the header, does not count', () => {
    expect(faultOf('"targets;;;;",scheduled_at\na;b;c;d;e,now\n')).toEqual(['CSV_HEADER_INVALID', { missing: ['targets'], unknown: ['targets;;;;'] }]);
    expect(cellsOf('targets,scheduled_at\na;b;c;d;e,now\n')).toEqual([['a;b;c;d;e', 'now']]);
  });

  test('a tie is a comma', () => {
    expect(faultOf('targets;scheduled_at,content\n')).toEqual(['CSV_HEADER_INVALID', { missing: ['targets', 'scheduled_at'], unknown: ['targets;scheduled_at'] }]);
  });

  test.each([['comma', ','], ['semicolon', ';'], ['tab', '\t']] as const)('%s as asked', (delimiter, sign) => {
    expect(cellsOf(`targets${sign}scheduled_at\na,;\tb${sign}now`.replace(',;\t', ''), { delimiter })).toEqual([['ab', 'now']]);
    expect(cellsOf(`targets${sign}scheduled_at\n"a,;\tb"${sign}now`, { delimiter })).toEqual([['a,;\tb', 'now']]);
  });
});

describe('rows', () => {
  test.each([['\n'], ['\r\n'], ['\r']])('rows end with %j, the last one perhaps with nothing', (end) => {
    const expected = { columns: ['targets', 'scheduled_at'], rows: [{ row: 1, line: 2, cells: ['a', 'now'] }, { row: 2, line: 3, cells: [''] }, { row: 3, line: 4, cells: ['b', 'draft'] }] };
    for (const last of ['', end]) expect(read(['targets,scheduled_at', 'a,now', '', `b,draft${last}`].join(end))).toEqual(expected);
  });

  test('all three in one file, and line breaks inside quotes belong to the cell', () => {
    const { rows } = read('targets,scheduled_at\r\n"a\r\nb\nc\rd",now\n"x",draft\r"""",""""""\r\n');
    expect(rows).toEqual([{ row: 1, line: 2, cells: ['a\r\nb\nc\rd', 'now'] }, { row: 2, line: 6, cells: ['x', 'draft'] }, { row: 3, line: 7, cells: ['"', '""'] }]);
  });

  test('line breaks inside the header count too', () => {
    expect(read('targets,"scheduled_at\n\n"\na,now\n').rows[0]).toMatchObject({ row: 1, line: 4 });
  });

  test('a cell that begins like a formula is text', () => {
    expect(cellsOf('targets,scheduled_at,content,notes\n=1+1,+2,-3,@x\n')).toEqual([['=1+1', '+2', '-3', '@x']]);
  });

  const malformed: [string, string, object][] = [
    ['a quote that does not end', `${HEADER}\na,now,x\nb,now,"open\nto the end`, { row: 2, line: 3 }], ['text after a closing quote', `${HEADER}\na,now,"x" y\n`, { row: 1, line: 2 }], ['a quote inside a cell', `${HEADER}\n\n\na,now,5" wide\n`, { row: 3, line: 4 }],
    ['the same in the header', 'targets,"scheduled_at\n', { row: 0, line: 1 }],
  ];
  test.each(malformed)('%s', (_name, text, details) => {
    expect(faultOf(text)).toEqual(['CSV_MALFORMED', details]);
  });

  const rows = (count: number) => `${HEADER}\n${'a,now,x\n'.repeat(count)}`;
  test('500 rows, and not more, whatever is in them', () => {
    expect(read(rows(500)).rows).toHaveLength(500);
    expect(faultOf(rows(501))[0]).toBe('CSV_TOO_MANY_ROWS');
    expect(faultOf(`${HEADER}${'\n'.repeat(1_000_000)}`)[0]).toBe('CSV_TOO_MANY_ROWS');
    for (const empty of [HEADER, `${HEADER}\n`]) expect(faultOf(empty)[0]).toBe('CSV_EMPTY');
  });
});

describe('the header', () => {
  test('names in any case, with blanks around them, in any order', () => {
    expect(read(' Content ,SCHEDULED_AT, "Targets"\n'.replace('"Targets"', 'Targets').concat('x,now,a\n')).columns).toEqual(['content', 'scheduled_at', 'targets']);
  });

  const wrong: [string, object][] = [
    ['content', { missing: ['targets', 'scheduled_at'] }], ['targets,content', { missing: ['scheduled_at'] }], ['targets,scheduled_at,Content, content', { duplicate: ['content'] }],
    ['targets,scheduled_at,when', { unknown: ['when'] }], ['targets,scheduled_at,', { unknown: [''] }], ['when,targets,targets,__proto__,constructor', { missing: ['scheduled_at'], duplicate: ['targets'], unknown: ['when', '__proto__', 'constructor'] }],
  ];
  test.each(wrong)('%s', (header, details) => {
    expect(faultOf(`${header}\na,b\n`)).toEqual(['CSV_HEADER_INVALID', details]);
  });

  test('64 columns, and not more', () => {
    const header = (count: number) => `targets,scheduled_at${',x'.repeat(count - 2)}\n`;
    expect(faultOf(header(64))[0]).toBe('CSV_HEADER_INVALID');
    expect(faultOf(header(65))).toEqual(['CSV_TOO_MANY_COLUMNS', { limit: 64 }]);
  });

  test('nothing at all has no header', () => {
    expect(faultOf('\uFEFF')).toEqual(['CSV_HEADER_INVALID', { missing: ['targets', 'scheduled_at'] }]);
  });
});
