import type { Issue } from '../../../infra/contract/errors.ts';
import { SCHEDULE_PAST_GRACE_MS } from '../../../infra/contract/limits.ts';
import { listPosts as readPage, withTargets, type ListSource } from '../../../infra/db/repositories/posts.ts';
import { allOf, containing, pageReply, windowClause, type Clause } from '../../page.ts';
import type { Call, ListWindow, Reply } from '../../route.ts';
import { validationError } from '../../validation/issues.ts';
import { assertNamedWorkspace, visibleWorkspaces } from '../../workspace-access.ts';
import { presentPost, type Shown } from './posts.present.ts';

/** The list itself, and what keeps the place of its posts in it, so that what is found by it is read in order. */
const ALL: ListSource = { from: 'post', time: 'post.listed_at', id: 'post.id', isRepeating: false };
const BY_TAG: ListSource = { from: 'post_tag found join post on post.id = found.post_id', time: 'found.listed_at', id: 'found.post_id', isRepeating: false };
const BY_ACCOUNT: ListSource = { from: 'target found join post on post.id = found.post_id', time: 'found.listed_at', id: 'found.post_id', isRepeating: false };
/** A post may have two targets on one platform. */
const BY_PLATFORM: ListSource = { ...BY_ACCOUNT, isRepeating: true };
/** Posts that stand in the calendar where they stand in the list; the others have a place of their own there, the planned time. */
const PLANNED = 'post.published_at is null and post.scheduled_at is not null';
const NOT_PLANNED = 'post.published_at is not null or post.scheduled_at is null';
/** Filters on what no post has yet. */
const NOTHING_HAS = ['idea_id', 'recycled_from_id', 'thread_group_id'] as const;

/** GET /v1/posts. */
export async function listPosts(call: Call): Promise<Reply> {
  const { query, tx, caller } = call;
  const window = call.window!;
  refuseExternal(query);
  if (query.workspace_id !== undefined) await assertNamedWorkspace(call, query.workspace_id, 'read');
  if (NOTHING_HAS.some((name) => query[name] !== undefined)) return pageReply(call, { rows: [], position: () => ({ at: new Date(0), id: '' }), present: () => [] });
  const { source, found } = sourceOf(query);
  const own = [...found, { sql: 'post.deleted_at is null', params: [] }, visibleWorkspaces(caller, 'post.workspace_id'), ...filters(query)];
  const rows = await readPage(tx, { source, branches: branches(window, own, source), limit: window.limit });
  const shown = shownBy(query.include ?? []);
  return pageReply(call, {
    rows,
    position: ({ at, post }) => ({ at, id: post.id }),
    present: async (page) => (await withTargets(tx, page, { withRelated: shown.targets })).map((state) => presentPost(state, caller, shown)),
  });
}

/**
 * A range is a calendar: it looks at the planned time too, and the order does not. Asked as one condition, it would be
 * tried on every post of the list; asked apart, posts without a plan are a piece of the list itself.
 */
function branches(window: ListWindow, own: Clause[], place: ListSource): (Clause & { order: string })[] {
  const { from, to, ...keyset } = window;
  const ofList = windowClause(window, place);
  if (from === null && to === null) return [{ ...allOf([...own, ofList]), order: ofList.order }];
  const ofPlan = windowClause({ ...keyset, from: null, to: null }, place);
  return [
    { ...allOf([...own, { sql: NOT_PLANNED, params: [] }, ofList]), order: ofList.order },
    { ...allOf([...own, { sql: PLANNED, params: [] }, ...range(from, to), ofPlan]), order: ofPlan.order },
  ];
}

/** One tag, account or platform is followed in its own order; whatever else is asked for is asked of each post. */
function sourceOf(query: Call['query']): { source: ListSource; found: Clause[] } {
  const accounts: string[] = query.account_ids ?? (query.account_id === undefined ? [] : [query.account_id]);
  const platforms: string[] = query.platform ?? [];
  const ofAccounts = accounts.length === 0 ? [] : [ofTargets('target.account_id in (?)', [accounts])];
  const ofPlatforms = platforms.length === 0 ? [] : [ofTargets('target.platform in (?)', [platforms])];
  if (query.tag_id !== undefined) return { source: BY_TAG, found: [{ sql: 'found.tag_id = ?', params: [query.tag_id] }, ...ofAccounts, ...ofPlatforms] };
  if (accounts.length === 1) return { source: BY_ACCOUNT, found: [{ sql: 'found.account_id = ?', params: accounts }, ...ofPlatforms] };
  if (platforms.length === 1) return { source: BY_PLATFORM, found: [{ sql: 'found.platform = ?', params: platforms }, ...ofAccounts] };
  return { source: ALL, found: [...ofAccounts, ...ofPlatforms] };
}

function filters(query: Call['query']): Clause[] {
  const when = (value: unknown, clause: () => Clause): Clause[] => (value === undefined ? [] : [clause()]);
  return [
    ...when(query.workspace_id, () => ({
      sql: 'post.workspace_id = ? or exists (select from target join account on account.id = target.account_id where target.post_id = post.id and account.workspace_id = ?)',
      params: [query.workspace_id, query.workspace_id],
    })),
    ...when(query.status, () => ({ sql: 'post.status in (?)', params: [query.status] })),
    ...when(query.template_id, () => ({ sql: 'post.template_id = ?', params: [query.template_id] })),
    ...when(query.platform_post_id, () => ofTargets('target.platform_post_id = ? or target.url = ?', [query.platform_post_id, query.platform_post_id])),
    ...when(query.q, () => ({ sql: 'post.content ilike ? or post.notes ilike ?', params: [containing(query.q), containing(query.q)] })),
  ];
}

function ofTargets(condition: string, params: unknown[]): Clause {
  return { sql: `exists (select from target where target.post_id = post.id and (${condition}))`, params };
}

function range(from: Date | null, to: Date | null): Clause[] {
  return [
    ...(from === null ? [] : [{ sql: 'post.scheduled_at >= ?', params: [from] }]),
    // Nobody plans a post for a time before it was made: said here too, it is where the reading of an old range begins.
    ...(to === null ? [] : [{ sql: `post.scheduled_at <= ? and post.listed_at <= ?::timestamptz + interval '${SCHEDULE_PAST_GRACE_MS} milliseconds'`, params: [to, to] }]),
  ];
}

function shownBy(include: readonly string[]): Shown {
  const all = include.includes('all');
  return { targets: all || include.includes('targets'), media: all || include.includes('media') };
}

/** External posts are merged into published ones; a list that can hold none is a misunderstanding. */
function refuseExternal(query: Call['query']): void {
  if (query.include_external !== true || query.status === undefined || query.status.includes('published')) return;
  const issue: Issue = { code: 'invalid_value', message: 'include_external needs status=published or no status', path: ['include_external'], in: 'query' };
  throw validationError([issue]);
}
