import type Joi from 'joi';
import type { Issue } from '../../infra/contract/errors.ts';

const LIST_ITEMS_MAX = 100;

/** Reads the known parameters of a query. Texts become what their schema asks for; what does not fit stays text, and the schema refuses it. */
export function readQuery(search: URLSearchParams, keys: Record<string, Joi.Description>): { values: Record<string, unknown>; issues: Issue[] } {
  const values: Record<string, unknown> = {};
  const issues: Issue[] = [];
  for (const [name, description] of Object.entries(keys)) {
    const given = search.getAll(name);
    if (given.length > 1) issues.push({ code: 'invalid_type', message: `${name} is given ${given.length} times; give it once`, path: [name], in: 'query' });
    else if (given[0] !== undefined && given[0] !== '') values[name] = decode(given[0], description);
    const list = values[name];
    if (!Array.isArray(list)) continue;
    if (list.length === 0) delete values[name];
    if (list.length > LIST_ITEMS_MAX) {
      issues.push({ code: 'too_big', message: `${name} must have at most ${LIST_ITEMS_MAX} items`, path: [name], in: 'query' });
      delete values[name];
    }
  }
  return { values, issues };
}

function decode(text: string, description: Joi.Description): unknown {
  switch (description.type) {
    case 'boolean': return text === 'true' ? true : text === 'false' ? false : text;
    case 'number': return /^-?\d{1,20}(?:\.\d{1,20})?$/.test(text) ? Number(text) : text;
    case 'array': {
      const [item] = (description.items as Joi.Description[] | undefined) ?? [];
      return text.split(',').map((part) => part.trim()).filter((part) => part !== '').map((part) => (item === undefined ? part : decode(part, item)));
    }
    default: return text;
  }
}
