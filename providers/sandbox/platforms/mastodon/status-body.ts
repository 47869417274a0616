import { parseForm, parseJson, type Body } from '../../body.ts';

/** Parameters as Rails reads them: JSON, or a form whose names nest by brackets. */
export type Parameters = Record<string, unknown>;

export function readParameters(body: Body): Parameters | null {
  if (/^application\/json\b/i.test(body.contentType)) {
    const value = body.bytes.length === 0 ? {} : parseJson(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Parameters : null;
  }
  const form = parseForm(body);
  if (form === null) return body.bytes.length === 0 ? {} : null;
  const parameters: Parameters = {};
  for (const [name, value] of form) place(parameters, name.split('[').map((part) => part.replace(/\]$/, '')), value);
  return parameters;
}

/** `poll[options][]=a` is `{poll: {options: ['a']}}`. */
function place(target: Parameters, [name = '', ...rest]: string[], value: string): void {
  if (name === '__proto__' || name === 'constructor') return;
  if (rest.length === 0) {
    target[name] = value;
  } else if (rest[0] === '') {
    const list = Array.isArray(target[name]) ? target[name] as unknown[] : [];
    target[name] = [...list, value];
  } else {
    const nested = typeof target[name] === 'object' && target[name] !== null && !Array.isArray(target[name]) ? target[name] as Parameters : {};
    target[name] = nested;
    place(nested, rest, value);
  }
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');
export const truth = (value: unknown): boolean => ![undefined, null, false, 0, '', '0', 'f', 'false', 'off'].includes(value as string);
export const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(text).filter((item) => item !== '') : []);

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Grapheme clusters, every URL as long as the instance says, a remote mention without its host. */
export function countedLength(content: string, perUrl: number): number {
  const counted = content.replace(/https?:\/\/[^\s]+/g, 'x'.repeat(perUrl)).replace(/(^|[^/\w])@(\w+)@[\w.-]+\w/g, '$1@$2');
  return [...segmenter.segment(counted)].length;
}
