import type { Call } from '../../route.ts';

const SCAN_LIMIT = 1_000;

/** Reads a list of the sandbox from a place on, one row more than the page holds. The sandbox knows no `from` and `to`: its rows are in their order of time, so they are left out here. */
export async function scan<T>(call: Call, list: { after: string | null; timeOf: (row: T) => string; next: (query: URLSearchParams) => Promise<{ rows: T[]; next: string | null }>; filter: URLSearchParams }): Promise<T[]> {
  const { from, to, limit } = call.window!;
  const found: T[] = [];
  let { after } = list;
  for (;;) {
    const query = new URLSearchParams(list.filter);
    query.set('limit', String(from === null ? limit + 1 : SCAN_LIMIT));
    if (after !== null) query.set('after', after);
    const page = await list.next(query);
    for (const row of page.rows) {
      const at = new Date(list.timeOf(row));
      if (to !== null && at > to) return found;
      if (from === null || at >= from) found.push(row);
      if (found.length > limit) return found;
    }
    if (page.next === null) return found;
    after = page.next;
  }
}
