import type { ListWindow } from '../../route.ts';
import { allOf, type Clause } from '../../page.ts';

/** As `windowClause` of the pages, for lists whose oldest rows come first. `from` and `to` may compare another time than the list is ordered by. */
export function oldestFirst(window: ListWindow, columns: { time: string; id: string; listTime?: string }): Clause & { order: string } {
  const { time, id, listTime = time } = columns;
  const parts: Clause[] = [
    ...(window.from === null ? [] : [{ sql: `${listTime} >= ?`, params: [window.from] }]),
    ...(window.to === null ? [] : [{ sql: `${listTime} <= ?`, params: [window.to] }]),
    ...(window.after === null ? [] : [{ sql: `(${time}, ${id}) > (?, ?)`, params: [window.after.at, window.after.id] }]),
  ];
  return { ...allOf(parts), order: `order by ${time}, ${id} limit ${window.limit + 1}` };
}
