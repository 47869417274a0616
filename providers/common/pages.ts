import type { Endpoints } from '../provider.ts';

/**
 * The public page of a post is written as a pattern among the endpoints: `page` makes addresses and reads them,
 * `pages_also` (patterns with blanks between) only reads them.
 */
export function pageUrl(endpoints: Endpoints, id: string, username: string | null): string | null {
  const pattern = endpoints['page'];
  if (pattern === undefined || (pattern.includes('{username}') && username === null)) return null;
  return pattern.replace('{username}', encodeURIComponent(username ?? '')).replace('{id}', encodeURIComponent(id));
}

export function idOfPage(endpoints: Endpoints, url: string, id: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null) return null;
  const plain = `${parsed.origin}${parsed.pathname}`.replace(/\/$/, '');
  for (const pattern of `${endpoints['page'] ?? ''} ${endpoints['pages_also'] ?? ''}`.split(' ')) {
    if (pattern === '') continue;
    const found = new RegExp(`^${escape(pattern).replace('\\{username\\}', '[^/]+').replace('\\{id\\}', `(${id})`)}(?:/.*)?$`, 'i').exec(plain);
    if (found?.[1] !== undefined) return found[1];
  }
  return null;
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
