const NAME = '[A-Za-z_][A-Za-z0-9_.-]{0,63}';

/** The whole of a variable's name. */
export const VARIABLE_NAME = new RegExp(`^${NAME}$`);

/** In this order: `\\` before a variable, `\{{`, a variable. Whatever else has braces is text. */
const TOKEN = new RegExp(String.raw`\\\\(?=\{\{[ \t]*${NAME}[ \t]*\}\})|\\\{\{|\{\{[ \t]*(?<name>${NAME})[ \t]*\}\}`, 'g');

export interface Expanded {
  text: string;
  /** Names that were replaced, in order of first use. */
  used: string[];
  /** Names without a value, which stay as they were written. */
  missing: string[];
}

/** Puts values in place of `{{ name }}`. One pass: what a value holds is never expanded again. */
export function expandVariables(text: string, values: Readonly<Record<string, string>>): Expanded {
  const used = new Set<string>();
  const missing = new Set<string>();
  const expanded = text.replaceAll(TOKEN, (token: string, name: string | undefined) => {
    if (name === undefined) return token === String.raw`\{{` ? '{{' : '\\';
    const isGiven = Object.hasOwn(values, name);
    (isGiven ? used : missing).add(name);
    return isGiven ? values[name]! : token;
  });
  return { text: expanded, used: [...used], missing: [...missing] };
}

/** The names that a text asks for, in order of first use. */
export function variablesIn(text: string): string[] {
  return expandVariables(text, {}).missing;
}
