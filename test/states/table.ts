/*
 * The whole table of states, typed from the contract: what a reader may look up, and what states.test.ts drives row by row.
 * `from` and `to` are the status of the target that the row is about, with its code where it has one; `–` = there is no
 * post yet, `removed` = the post or the target is gone. `events` are all events of the story: those of the post since its
 * creation in their order, then those of the operation. An ending is in there once.
 *
 * Rows of the contract that are missing here, because nothing in this service can trigger them yet:
 * - waiting for a thread parent (threads)
 * - conversion of an idea to a draft (ideas)
 * - unpublish: succeeded, failed, unknown; and the draft that it leaves, scheduled again
 * - the still-live check that finds a published post gone
 * - the verdict that reverses a verdict, in both directions
 * - published edits, which change no status
 * The routes among them are asked for in states.test.ts, and are not there.
 */
export interface Row {
  from: string;
  trigger: string;
  condition: string;
  to: string;
  events: readonly string[];
}

const row = (from: string, trigger: string, condition: string, to: string, ...events: string[]): Row => ({ from, trigger, condition, to, events });

const UNKNOWN = 'failed PROVIDER_OUTCOME_UNKNOWN';
const DECIDED = 'failed VERDICT_DID_NOT_HAPPEN';

/** Transitions of targets. */
export const TARGETS: readonly Row[] = [
  row('–', 'create', 'draft', 'draft', 'post.created'),
  row('–', 'duplicate', 'draft', 'draft', 'post.created'),
  row('–', 'create', 'future ISO', 'scheduled', 'post.created', 'post.scheduled'),
  row('–', 'create', 'auto', 'scheduled', 'post.created', 'post.scheduled'),
  row('–', 'create', 'now', 'publishing', 'post.created'),
  row('–', 'create', 'due ISO', 'publishing', 'post.created'),
  row('draft', 'PATCH removes it', '', 'removed', 'post.created', 'post.updated'),
  row('scheduled', 'PATCH removes it', '', 'removed', 'post.created', 'post.scheduled', 'post.updated'),
  row('draft', 'PATCH scheduled_at', 'later', 'scheduled', 'post.created', 'post.updated', 'post.scheduled'),
  row('draft', 'PATCH scheduled_at', 'now', 'publishing', 'post.created', 'post.updated'),
  row('scheduled', 'PATCH scheduled_at', 'draft', 'draft', 'post.created', 'post.scheduled', 'post.updated'),
  row('scheduled', 'cancel', 'not begun', 'draft', 'post.created', 'post.scheduled', 'post.updated'),
  row('scheduled', 'PATCH content', 'not begun', 'scheduled', 'post.created', 'post.scheduled', 'post.updated'),
  row('scheduled', 'PATCH scheduled_at', 'later', 'scheduled', 'post.created', 'post.scheduled', 'post.updated', 'post.scheduled'),
  row('scheduled', 'PATCH scheduled_at', 'now', 'publishing', 'post.created', 'post.scheduled', 'post.updated'),
  row('scheduled', 'due time reached', 'within catch-up', 'publishing', 'post.created', 'post.scheduled'),
  row('scheduled', 'due, too late', 'publish', 'publishing', 'post.created', 'post.scheduled'),
  row('scheduled', 'due, too late', 'skip', 'failed SCHEDULE_MISSED', 'post.created', 'post.scheduled', 'post.failed'),
  row('scheduled', 'due, too late', 'hold', 'draft', 'post.created', 'post.scheduled', 'post.held'),
  row('publishing', 'media refused before any claim', 'definite', 'failed MEDIA_NOT_READY', 'post.created', 'post.failed'),
  row('publishing', 'plan refused before any claim', 'definite', 'failed ACCOUNT_RECONNECT_REQUIRED', 'post.created', 'post.failed', 'post.failed'),
  row('publishing', 'waiting', 'pacing', 'publishing', 'post.created'),
  row('publishing', 'waiting', '429 that did nothing', 'publishing', 'post.created'),
  row('publishing', 'waiting', 'processing', 'publishing', 'post.created'),
  row('publishing', 'operation succeeded', 'proof stored', 'published', 'post.created', 'post.published'),
  row('publishing', 'operation failed', 'documented refusal', 'failed CONTENT_REJECTED', 'post.created', 'post.failed'),
  row('publishing', 'operation failed', 'patience over', 'failed RATE_LIMITED', 'post.created', 'post.failed'),
  row('publishing', 'operation unknown', '', UNKNOWN, 'post.created', 'post.failed', 'operation.unknown'),
  row('publishing', 'cancel', 'operation still pending', 'failed CANCELLED', 'post.created', 'post.failed'),
  row('publishing', 'cancel', 'operation sending', 'published', 'post.created', 'post.published'),
  row('publishing', 'DELETE', 'operation still pending', 'failed CANCELLED', 'post.created', 'post.deleted'),
  row('publishing', 'DELETE', 'operation sending', 'published', 'post.created', 'post.deleted'),
  row(UNKNOWN, 'late answer', 'happened', 'published', 'post.created', 'post.failed', 'post.published', 'operation.unknown', 'operation.resolved'),
  row(UNKNOWN, 'probe', 'happened', 'published', 'post.created', 'post.failed', 'post.published', 'operation.unknown', 'operation.resolved'),
  row(UNKNOWN, 'verdict', 'happened', 'published', 'post.created', 'post.failed', 'post.published', 'operation.unknown', 'operation.resolved'),
  row(UNKNOWN, 'late answer', 'did not happen', 'failed CONTENT_REJECTED', 'post.created', 'post.failed', 'operation.unknown', 'operation.resolved'),
  row(UNKNOWN, 'probe', 'did not happen', 'failed PROVIDER_PROVED_ABSENT', 'post.created', 'post.failed', 'operation.unknown', 'operation.resolved'),
  row(UNKNOWN, 'verdict', 'did not happen', DECIDED, 'post.created', 'post.failed', 'operation.unknown', 'operation.resolved'),
  row(DECIDED, 'proof of success', 'no newer attempt open or succeeded', 'published', 'post.created', 'post.failed', 'post.published', 'operation.unknown', 'operation.resolved', 'operation.resolved'),
  row('published', 'proof of success of an earlier attempt', 'newer attempt succeeded', 'published', 'post.created', 'post.failed', 'post.published', 'operation.unknown', 'operation.resolved', 'operation.resolved'),
  row('failed CONTENT_REJECTED', 'retry', 'not unknown', 'publishing', 'post.created', 'post.failed'),
  row('publishing', 'waiting goes past the catch-up limit', 'hold, nothing of the post sent', 'draft', 'post.created', 'post.held'),
  row('publishing', 'waiting goes past the catch-up limit', 'hold, some of the post sent', 'failed SCHEDULE_MISSED', 'post.created', 'post.partial'),
  row('publishing', 'waiting goes past the catch-up limit', 'skip', 'failed SCHEDULE_MISSED', 'post.created', 'post.failed'),
  row('draft', 'DELETE', '', 'removed', 'post.created', 'post.deleted'),
  row('scheduled', 'DELETE', '', 'removed', 'post.created', 'post.scheduled', 'post.deleted'),
  row('published', 'DELETE', '', 'removed', 'post.created', 'post.published', 'post.deleted'),
  row('failed CONTENT_REJECTED', 'DELETE', '', 'removed', 'post.created', 'post.failed', 'post.deleted'),
  row(UNKNOWN, 'DELETE', '', 'removed', 'post.created', 'post.failed', 'post.deleted', 'operation.unknown'),
];

export type TargetState = 'draft' | 'scheduled' | 'publishing' | 'published' | 'failed' | 'unknown';

/** What a post is, from its targets; and what it becomes when something of it is settled later. */
export interface PostRow {
  targets: readonly TargetState[];
  post: string;
  events: readonly string[];
  /** What a person then does about it, and what the post becomes. */
  later?: { by: 'verdict published' | 'verdict not published' | 'retry'; post: string; events: readonly string[] };
}

const CREATED = 'post.created';
export const POSTS: readonly PostRow[] = [
  { targets: ['published', 'publishing', 'failed'], post: 'publishing', events: [CREATED] },
  { targets: ['publishing', 'publishing', 'publishing'], post: 'publishing', events: [CREATED] },
  { targets: ['scheduled', 'scheduled', 'scheduled'], post: 'scheduled', events: [CREATED, 'post.scheduled'] },
  { targets: ['draft', 'draft', 'draft'], post: 'draft', events: [CREATED] },
  { targets: ['published', 'published', 'published'], post: 'published', events: [CREATED, 'post.published'] },
  { targets: ['published', 'failed', 'published'], post: 'partial', events: [CREATED, 'post.partial'], later: { by: 'retry', post: 'published', events: ['post.published'] } },
  { targets: ['failed', 'published', 'failed'], post: 'partial', events: [CREATED, 'post.partial'] },
  { targets: ['published', 'unknown', 'published'], post: 'partial', events: [CREATED, 'post.partial'], later: { by: 'verdict published', post: 'published', events: ['post.published'] } },
  { targets: ['unknown', 'published', 'published'], post: 'partial', events: [CREATED, 'post.partial'], later: { by: 'verdict not published', post: 'partial', events: [] } },
  { targets: ['published', 'failed', 'unknown'], post: 'partial', events: [CREATED, 'post.partial'], later: { by: 'verdict published', post: 'partial', events: [] } },
  { targets: ['failed', 'failed', 'failed'], post: 'failed', events: [CREATED, 'post.failed'], later: { by: 'retry', post: 'published', events: ['post.published'] } },
  { targets: ['failed', 'unknown', 'failed'], post: 'failed', events: [CREATED, 'post.failed'], later: { by: 'verdict published', post: 'partial', events: ['post.partial'] } },
  { targets: ['unknown', 'unknown', 'unknown'], post: 'failed', events: [CREATED, 'post.failed'], later: { by: 'verdict not published', post: 'failed', events: [] } },
];

/** The table of the interface's own document, section 3: post statuses and what the request answers. */
export interface ServiceRow {
  from: string;
  trigger: string;
  condition: string;
  status: number;
  to: string;
}

export const SERVICE: readonly ServiceRow[] = [
  { from: '(none)', trigger: 'create post, `draft`', condition: 'valid body', status: 201, to: 'draft' },
  { from: '(none)', trigger: 'create post, ISO timestamp', condition: 'at most 30 days ahead', status: 201, to: 'scheduled' },
  { from: '(none)', trigger: 'create post, ISO timestamp', condition: 'more than 30 days ahead', status: 422, to: '(none)' },
  { from: '(none)', trigger: 'create post, `auto`', condition: 'valid body', status: 201, to: 'scheduled' },
  { from: '(none)', trigger: 'create post, `now`', condition: 'valid body', status: 201, to: 'publishing' },
  { from: 'draft', trigger: 'update post', condition: 'a new text', status: 200, to: 'draft' },
  { from: 'draft', trigger: 'update post', condition: 'a new `scheduled_at`', status: 200, to: 'scheduled' },
  { from: 'scheduled', trigger: 'update post', condition: 'a new text', status: 200, to: 'scheduled' },
  { from: 'scheduled', trigger: 'update post', condition: 'a new `scheduled_at`', status: 200, to: 'scheduled' },
  { from: 'publishing', trigger: 'update post', condition: 'not updatable', status: 409, to: 'publishing' },
  { from: 'published', trigger: 'update post', condition: 'not updatable', status: 409, to: 'published' },
  { from: 'failed', trigger: 'update post', condition: 'not updatable', status: 409, to: 'failed' },
  { from: 'failed', trigger: 'retry', condition: 'failed targets exist', status: 200, to: 'publishing' },
  { from: 'published', trigger: 'retry', condition: 'no failed target', status: 409, to: 'published' },
  { from: 'draft', trigger: 'delete post', condition: 'post exists', status: 204, to: 'removed' },
  { from: 'scheduled', trigger: 'delete post', condition: 'post exists', status: 204, to: 'removed' },
  { from: 'publishing', trigger: 'delete post', condition: 'post exists', status: 204, to: 'removed' },
  { from: 'published', trigger: 'delete post', condition: 'post exists', status: 204, to: 'removed' },
  { from: 'failed', trigger: 'delete post', condition: 'post exists', status: 204, to: 'removed' },
  { from: 'removed', trigger: 'delete post', condition: 'it was deleted already', status: 404, to: 'removed' },
];
