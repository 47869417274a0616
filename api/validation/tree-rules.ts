import type { Issue } from '../../infra/contract/errors.ts';
import { MAP_KEY_MAX_CHARS } from '../../infra/contract/limits.ts';

type Path = (string | number)[];

/**
 * What no part of a body may hold, free-form maps included. A member `__proto__` is reported and removed,
 * so that nothing further in can copy it by assignment.
 */
export function treeIssues(root: unknown, place: 'body' | 'query'): Issue[] {
  const issues: Issue[] = [];
  const path: Path = [];
  const report = (code: string, message: string, at: Path) => issues.push({ code, message, path: [...at], in: place });
  const text = (value: string, what: string, at: Path) => {
    if (value.includes('\0')) report('invalid_string', `${what} must not hold U+0000`, at);
    else if (!value.isWellFormed()) report('invalid_string', `${what} holds half of a surrogate pair`, at);
  };
  const visit = (value: unknown): void => {
    if (typeof value === 'string') text(value, 'the text', path);
    else if (typeof value === 'number') {
      if (!Number.isFinite(value)) report('invalid_type', 'the number is too large to be represented', path);
    } else if (Array.isArray(value)) value.forEach((item, index) => step(index, item));
    else if (typeof value === 'object' && value !== null) Object.keys(value).forEach((name) => member(value as Record<string, unknown>, name));
  };
  const step = (part: string | number, value: unknown): void => {
    path.push(part);
    visit(value);
    path.pop();
  };
  const member = (holder: Record<string, unknown>, name: string): void => {
    if (name === '__proto__') {
      report('unrecognized_keys', '__proto__ is not a field of this body', [...path, name]);
      Reflect.deleteProperty(holder, name);
      return;
    }
    if (name.length > MAP_KEY_MAX_CHARS && [...name].length > MAP_KEY_MAX_CHARS) report('too_big', `a member name must have at most ${MAP_KEY_MAX_CHARS} characters`, [...path, name]);
    text(name, 'the member name', [...path, name]);
    step(name, holder[name]);
  };
  visit(root);
  return issues;
}
