import type Joi from 'joi';
import type { Issue, IssueCode } from '../../infra/contract/errors.ts';
import { ECHO_MAX_CHARS, ISSUES_COUNTED_MAX } from '../../infra/contract/limits.ts';
import { didYouMean, namesAt } from './did-you-mean.ts';
import { cut } from './issues.ts';

type Place = 'body' | 'query';

const CODES: Record<string, IssueCode> = {
  'any.required': 'required', 'any.only': 'invalid_value', 'any.invalid': 'invalid_value', 'any.unknown': 'unrecognized_keys', 'object.unknown': 'unrecognized_keys',
  'string.pattern.base': 'invalid_string', 'string.empty': 'too_small', 'string.min': 'too_small', 'number.min': 'too_small', 'number.greater': 'too_small', 'number.positive': 'too_small',
  'array.min': 'too_small', 'object.min': 'too_small', 'array.includesRequiredUnknowns': 'too_small',
  'string.max': 'too_big', 'number.max': 'too_big', 'number.less': 'too_big', 'number.negative': 'too_big', 'array.max': 'too_big', 'object.max': 'too_big',
  'number.integer': 'invalid_type', 'number.infinity': 'invalid_type', 'number.multiple': 'invalid_value',
  'alternatives.types': 'invalid_type', 'alternatives.match': 'invalid_type', 'alternatives.any': 'invalid_type', 'alternatives.all': 'invalid_type', 'alternatives.one': 'invalid_type',
};

const TYPE_WORDS: Record<string, string> = { string: 'a string', number: 'a number', boolean: 'true or false', array: 'an array', object: 'an object', date: 'a date-time' };

/**
 * Turns what joi found into our closed set of codes, with messages of our own: no text of the library is shown.
 * A body of 20,000 values can be wrong in as many places, so only those that are counted get a message; `document` gives their order.
 */
export function joiIssues(details: readonly Joi.ValidationErrorItem[], place: Place, description: Joi.Description, document: unknown = undefined): Issue[] {
  const faults = details.filter((detail) => !fitsInCodePoints(detail));
  return inDocumentOrder(faults, document).slice(0, ISSUES_COUNTED_MAX).map((detail) => joiIssue(detail, place, description));
}

function joiIssue(detail: Joi.ValidationErrorItem, place: Place, description: Joi.Description): Issue {
  const own = detail.context?.issue as { code: string; message: string } | undefined;
  if (own !== undefined) return { ...own, message: `${labelOf(detail.path)} ${own.message}`, path: detail.path, in: place };
  return { code: codeOf(detail), message: messageOf(detail, place, description), path: detail.path, in: place };
}

/** joi counts UTF-16 units, the contract counts code points. */
function fitsInCodePoints(detail: Joi.ValidationErrorItem): boolean {
  const value: unknown = detail.context?.value;
  return detail.type === 'string.max' && typeof value === 'string' && [...value].length <= Number(detail.context?.limit);
}

function codeOf(detail: Joi.ValidationErrorItem): IssueCode {
  if (detail.type === 'alternatives.match' && typeof detail.context?.value === 'string') return 'invalid_string';
  const known = CODES[detail.type];
  if (known !== undefined) return known;
  if (detail.type === 'number.unsafe') return Number(detail.context?.value) > 0 ? 'too_big' : 'too_small';
  if (detail.type.endsWith('.length')) return lengthOf(detail.context?.value) > Number(detail.context?.limit) ? 'too_big' : 'too_small';
  if (detail.type.endsWith('.base')) return 'invalid_type';
  return detail.type.startsWith('string.') ? 'invalid_string' : 'custom';
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0;
}

function messageOf(detail: Joi.ValidationErrorItem, place: Place, description: Joi.Description): string {
  const label = labelOf(detail.path);
  const limit = String(detail.context?.limit ?? '');
  const [type = '', rule = ''] = detail.type.split('.');
  const unit = type === 'string' ? ' characters' : type === 'array' ? ' items' : type === 'object' ? ' members' : '';
  switch (rule) {
    case 'required': return `${label} is required`;
    case 'only': return `${label} must be one of ${((detail.context?.valids ?? []) as unknown[]).filter((one) => one !== null).map(String).join(', ')}`;
    case 'both': return `${label} is another name of ${String(detail.context?.main)}; give one of them`;
    case 'unknown': return unknownMember(detail, place, description);
    case 'pattern': return `${label} does not have the expected form`;
    case 'base': return `${label} must be ${TYPE_WORDS[type] ?? 'of another type'}`;
    case 'integer': return `${label} must be a whole number`;
    case 'unsafe': case 'infinity': return `${label} must be a number between -(2^53-1) and 2^53-1`;
    case 'empty': return `${label} must not be empty`;
    case 'min': return `${label} must ${unit === '' ? 'be' : 'have'} at least ${limit}${unit}`;
    case 'max': return `${label} must ${unit === '' ? 'be' : 'have'} at most ${limit}${unit}`;
    case 'length': return `${label} must have exactly ${limit}${unit}`;
    case 'unique': return `${label} is the same as an earlier item`;
    case 'and': case 'with': case 'missing': case 'xor': case 'oxor': case 'nand': case 'or': case 'without': return groupMessage(rule, label, detail);
    default: return type === 'alternatives' ? `${label} must be ${typesOf(detail)}` : `${label} does not have the expected form`;
  }
}

function groupMessage(rule: string, label: string, detail: Joi.ValidationErrorItem): string {
  const peers = ((detail.context?.peersWithLabels ?? detail.context?.peers ?? []) as string[]).join(', ');
  if (rule === 'missing' || rule === 'or') return `${label} needs ${rule === 'or' ? 'at least ' : ''}one of ${peers}`;
  if (rule === 'with' || rule === 'and') return `${label} needs fields that belong together: ${String(detail.context?.peerWithLabel ?? (detail.context?.missing as string[] | undefined)?.join(', ') ?? peers)}`;
  return `${label} takes only one of fields that exclude each other: ${peers === '' ? String(detail.context?.peerWithLabel ?? '') : peers}`;
}

function typesOf(detail: Joi.ValidationErrorItem): string {
  const types = detail.context?.types as string[] | undefined;
  return types === undefined ? 'of one of the documented forms' : types.map((type) => TYPE_WORDS[type] ?? type).join(' or ');
}

function unknownMember(detail: Joi.ValidationErrorItem, place: Place, description: Joi.Description): string {
  const name = String(detail.path.at(-1));
  const guess = didYouMean(name, namesAt(description, detail.path.slice(0, -1)));
  const shown = cut(name, ECHO_MAX_CHARS);
  const holder = detail.path.length === 1 ? `this ${place}` : labelOf(detail.path.slice(0, -1));
  return `${shown} is not a field of ${holder}${guess === null ? '' : `; did you mean ${guess}?`}`;
}

function labelOf(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'the body';
  const label = path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('');
  return cut(label, ECHO_MAX_CHARS);
}

/** Sorts by place in the document; what is missing comes after what is there. */
export function inDocumentOrder<T extends { path: readonly (string | number)[] }>(items: readonly T[], document: unknown): T[] {
  const orders = new Map<object, Map<string, number>>();
  return items.map((item) => ({ item, place: placeOf(item.path, document, orders) })).sort((a, b) => comparePlaces(a.place, b.place)).map(({ item }) => item);
}

/** `orders` holds the order of the members of each object, because an object of thousands is asked for thousands of them. */
function placeOf(path: readonly (string | number)[], document: unknown, orders: Map<object, Map<string, number>>): number[] {
  let value = document;
  return path.map((part) => {
    const holder = value as Record<string | number, unknown> | null | undefined;
    const isHolder = typeof holder === 'object' && holder !== null;
    value = isHolder ? holder[part] : undefined;
    if (typeof part === 'number') return part;
    return (isHolder ? orderOf(holder, orders).get(part) : undefined) ?? Number.MAX_SAFE_INTEGER;
  });
}

function orderOf(holder: object, orders: Map<object, Map<string, number>>): Map<string, number> {
  let order = orders.get(holder);
  if (order === undefined) orders.set(holder, (order = new Map(Object.keys(holder).map((name, index) => [name, index]))));
  return order;
}

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
}
