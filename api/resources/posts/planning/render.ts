import type { OptionMap } from '../../../../infra/db/entities/post.entity.ts';

/** Line ends are stored as `\n`; nothing else of a text is changed. */
export function storedText(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** The request's map with its texts as they are stored. */
export function storedOptions(map: OptionMap | null): OptionMap | null {
  if (map === null) return null;
  return Object.fromEntries(Object.entries(map).map(([key, values]) => [key, typeof values.content === 'string' ? { ...values, content: storedText(values.content) } : values]));
}

export function isBlank(text: string | null | undefined): boolean {
  return text === null || text === undefined || text.trim() === '';
}
