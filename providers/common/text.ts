import type { CheckTarget, TextLength } from './catalog-entry.ts';
import type { IssueList } from './issues.ts';
import { remembered } from './remembered.ts';

/** The text as it is counted and sent: one kind of line end, nothing blank at its end. */
export function finalText(text: string | null): string {
  return (text ?? '').replace(/\r\n?/g, '\n').trimEnd();
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

export const graphemes = remembered((text) => {
  let count = 0;
  for (const _ of segmenter.segment(text)) count++;
  return count;
});

export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Length and characters of the main text. */
export function checkText(list: IssueList, target: CheckTarget, length: TextLength): void {
  const text = finalText(target.text);
  const { value, limit, unit, perUrl } = length;
  if (value > limit) {
    list.error({
      code: 'CONTENT_TOO_LONG',
      message: `The text has ${value} ${unit === 'weighted' ? 'weighted characters' : unit}, ${value - limit} more than the ${limit} allowed.`,
      fix: 'Shorten the text, or give this target a shorter one in target_options.content.',
      path: ['content'],
      details: { length: value, limit, unit, over: value - limit, per_url: perUrl },
    });
  }
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000b-\u001f]/.test(text)) {
    list.error({ code: 'FORBIDDEN_CHARACTERS', message: 'The text has control characters.', fix: 'Remove control characters other than line ends and tabs.', path: ['content'], details: {} });
  }
}
