import type { Signature } from '../../../infra/db/entities/signature.entity.ts';

/** The text with the signature on its side. A blank text gets none, and a text that carries it already is left as it is. */
export function withSignature(text: string, signature: Pick<Signature, 'content' | 'position'> | null): string {
  if (signature === null || text.trim() === '') return text;
  const { content, position } = signature;
  const carried = content.trimEnd();
  if (position === 'append') return text.trimEnd().endsWith(carried) ? text : `${text.trimEnd()}\n\n${content}`;
  const below = withoutLeadingBlankLines(text);
  return below.startsWith(carried) ? text : `${content}\n\n${below}`;
}

/** Blank lines at the beginning and at the end are no part of a signature. */
export function withoutOuterBlankLines(text: string): string {
  const body = withoutLeadingBlankLines(text);
  const shown = body.trimEnd();
  const [lastLineEnd = ''] = body.slice(shown.length).split('\n', 1);
  return shown + lastLineEnd;
}

function withoutLeadingBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '');
}
