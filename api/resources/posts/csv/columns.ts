import { ApiError } from '../../../../infra/contract/errors.ts';
import { MEDIA_MAX_ITEMS, TARGET_SELECTORS_MAX } from '../../../../infra/contract/limits.ts';
import { decodeJson } from '../../../json/scan.ts';
import { cellInvalid, columnError } from './refusal.ts';

/** The members of a creation that a cell gives; none where it is empty. */
type Reader = (cell: string, column: string) => Record<string, unknown>;

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false, yes: true, no: false };

const text: Reader = (cell, column) => (cell === '' ? {} : { [column]: cell });
const word: Reader = (cell, column) => text(cell.trim(), column);
const selectors: Reader = (cell, column) => ({ targets: listOf(cell, /[;|]/, { column, max: TARGET_SELECTORS_MAX }) });

const boolean: Reader = (cell, column) => {
  const asked = cell.trim().toLowerCase();
  if (asked === '') return {};
  if (!Object.hasOwn(BOOLEANS, asked)) throw cellInvalid(column, `${column} must be true or false, 1 or 0, yes or no.`);
  return { [column]: BOOLEANS[asked] };
};

const json: Reader = (cell, column) => {
  if (cell.trim() === '') return {};
  try {
    return { [column]: decodeJson(Buffer.from(cell)) };
  } catch (error) {
    if (error instanceof ApiError) throw cellInvalid(column, `${column} must be JSON. ${error.message.replace('The body', 'The cell')}`);
    throw error;
  }
};

const media: Reader = (cell, column) => {
  const items = listOf(cell, /[;\s]/, { column, max: MEDIA_MAX_ITEMS }).map((one) => (one.startsWith('med_') ? { media_id: one } : { url: one }));
  return items.length === 0 ? {} : { media: items };
};

/** Beside what the columns give to the body: names of tags, texts for media, the caller's own id of the row. */
const aside: Reader = () => ({});

const READERS: Readonly<Record<string, Reader>> = {
  targets: selectors, scheduled_at: word, content: text, media_urls: media, media_alt: aside, timezone: word, target_options: json, workspace_id: word, template_id: word, idea_id: word,
  notes: text, external_id: aside, template_variables: json, recycling: json, cross_post_actions: json, catch_up: json, shorten_urls: boolean, skip_signature: boolean, allow_duplicate: boolean, tags: aside,
};

export const REQUIRED_COLUMNS = ['targets', 'scheduled_at'];

export function isColumn(name: string): boolean {
  return Object.hasOwn(READERS, name);
}

/** The body of a creation that a row's cells say, tags aside. */
export function bodyOf(cells: ReadonlyMap<string, string>): Record<string, unknown> {
  const body = Object.assign({}, ...[...cells].map(([column, cell]) => READERS[column]!(cell, column))) as Record<string, unknown>;
  return withAltTexts(body, cells.get('media_alt') ?? '');
}

function withAltTexts(body: Record<string, unknown>, cell: string): Record<string, unknown> {
  const texts = cell.trim() === '' ? [] : cell.split(';').map((one) => one.trim());
  const items = (body.media as object[] | undefined) ?? [];
  if (texts.slice(items.length).some((one) => one !== '')) throw columnError('media_alt', { code: 'too_big', message: 'media_alt has more texts than media_urls has files' });
  if (items.length === 0) return body;
  return { ...body, media: items.map((item, index) => (texts[index] === undefined || texts[index] === '' ? item : { ...item, alt_text: texts[index] })) };
}

/** A list that is too long is refused before its items are looked at: thousands of bad ones would take their time. */
export function listOf(cell: string, separator: RegExp | string, { column, max }: { column: string; max: number }): string[] {
  const items = cell.split(separator).map((one) => one.trim()).filter((one) => one !== '');
  if (items.length > max) throw columnError(column, { code: 'too_big', message: `${column} must have at most ${max} items` });
  return items;
}

const COLUMN_OF: Readonly<Record<string, string>> = { media: 'media_urls', tag_ids: 'tags' };

/** The column that a member of the body came from. */
export function columnOf([member, , part]: readonly (string | number)[]): string {
  if (member === 'media' && part === 'alt_text') return 'media_alt';
  return COLUMN_OF[String(member)] ?? String(member);
}
