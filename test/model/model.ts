/*
 * What must be true of posts, targets and operations, typed from the tables of the contract (decisions-posts.md 12.12,
 * 12.16 to 12.18; decisions-operations.md 23.2, 23.8, 23.9; decisions-platforms.md 38.4). It holds no code of the service.
 */
export type Platform = 'twitter' | 'mastodon';
export type TargetStatus = 'draft' | 'scheduled' | 'publishing' | 'published' | 'failed';
export type OnLate = 'publish' | 'skip' | 'hold';

/** Magic words: what the platform does with the first request of a first attempt. */
export const WORDS = {
  none: '', refuse: '[[sandbox:refuse]]', limit: '[[sandbox:rate-limit=30]]',
  'drop-before': '[[sandbox:drop-before]]', '500-before': '[[sandbox:500-before]]', redirect: '[[sandbox:redirect]]',
  'drop-after': '[[sandbox:drop-after]]', '500-after': '[[sandbox:500-after]]', garble: '[[sandbox:garble]]', 'no-id': '[[sandbox:no-id]]',
} as const;
export type Word = keyof typeof WORDS;
export const LIMIT_MS = 30_000;

/** What became public: made by the platform, kept in its ledger. */
export interface PublicObject {
  operation: Operation;
  text: string;
  at: number;
}

export interface Account {
  id: string;
  platform: Platform;
  nextAllowedAt: number;
  /** When the last late post of it went out. */
  lateSentAt: number;
  objects: PublicObject[];
  /** When something came that must not be read: lists that would hold it answer 503. */
  hidden: number[];
}

export interface Target {
  account: Account;
  post: Post;
  status: TargetStatus;
  code: string | null;
  attempt: number;
  text: string;
  word: Word;
  hides: boolean;
  waitingUntil: number;
  operation: Operation | null;
}

export interface Post {
  id: string;
  targets: Target[];
  scheduledAt: number | null;
  onLate: OnLate;
  maxLatenessMs: number;
  revision: number;
  seq: number;
  holdReason: string | null;
  publishedAt: number | null;
  isDeleted: boolean;
  status: string;
  events: string[];
}

export type OperationStatus = 'pending' | 'sending' | 'succeeded' | 'failed' | 'unknown';

export interface Operation {
  id: string;
  target: Target;
  attempt: number;
  seq: number;
  byPerson: boolean;
  /** Frozen when it was opened. */
  text: string;
  status: OperationStatus;
  code: string | null;
  settledBy: string | null;
  settledAt: number | null;
  revision: number;
  claim: { holder: object; until: number } | null;
  claimedAt: number | null;
  sentAt: number | null;
  sends: number;
  /** Of a key whose answer was lost. */
  repetitions: number;
  /** A request of it has come to the platform. */
  hasArrived: boolean;
  /** It is late, and went out within a minute of another late one of its account. */
  followsTooSoon: boolean;
  failures: number;
  heldBy: string | null;
  beganAt: number;
  unknownSince: number | null;
  nextProbeAt: number | null;
  absentReads: number;
  absentSince: number | null;
  /** Of the verdict in force. */
  verdict: { happened: boolean; platformPostId: string | null } | null;
  /** A person said once that it did not happen, right or wrong. */
  wasDenied: boolean;
  /** What its result names: an object of the platform, or an id that a person gave. */
  result: PublicObject | string | null;
  events: string[];
}

export class World {
  readonly posts: Post[] = [];
  readonly operations: Operation[] = [];
  readonly accounts: Account[];

  constructor(accounts: readonly { id: string; platform: Platform }[]) {
    this.accounts = accounts.map((account) => ({ ...account, nextAllowedAt: 0, lateSentAt: 0, objects: [], hidden: [] }));
  }
}

export function postStatus(targets: readonly Target[]): string {
  const statuses = targets.map((target) => target.status);
  if (statuses.includes('publishing')) return 'publishing';
  for (const status of ['scheduled', 'draft', 'published']) if (statuses.every((one) => one === status)) return status;
  return statuses.includes('published') ? 'partial' : 'failed';
}

/** Tells the ending of a post, once for each. */
export function refresh(post: Post): void {
  const before = post.status;
  post.status = postStatus(post.targets);
  if (post.status !== before && ['published', 'partial', 'failed'].includes(post.status) && !post.isDeleted) post.events.push(`post.${post.status}`);
}

export function open(world: World, target: Target, by: { person: boolean; now: number }): Operation {
  target.attempt += 1;
  const operation: Operation = {
    id: '', target, attempt: target.attempt, seq: target.post.seq, byPerson: by.person, text: target.text, status: 'pending', code: null, settledBy: null, settledAt: null, revision: 1,
    claim: null, claimedAt: null, sentAt: null, sends: 0, repetitions: 0, hasArrived: false, followsTooSoon: false, failures: 0, heldBy: null, beganAt: by.now, unknownSince: null, nextProbeAt: null, absentReads: 0, absentSince: null,
    verdict: null, wasDenied: false, result: null, events: [],
  };
  world.operations.push(operation);
  Object.assign(target, { status: 'publishing', code: null, waitingUntil: 0, operation });
  return operation;
}

export type Ruling =
  | { kind: 'succeeded'; result: PublicObject | string }
  | { kind: 'failed'; code: string }
  | { kind: 'unknown'; nextProbeAt: number }
  | { kind: 'not_done'; until: number; heldBy: string }
  | { kind: 'resend'; at: number };
export type By = 'sender' | 'probe' | 'verdict' | 'service';

/** Table 23.2: what is found out about an operation, and by whom. What the table does not admit changes nothing. */
export function settle(operation: Operation, by: By, ruling: Ruling, at: { now: number; holder?: object }): boolean {
  const before = operation.status;
  const mine = by === 'sender' && operation.claim?.holder === at.holder;
  if (!admits(operation, { by, ruling, mine, now: at.now })) {
    // A person's word that the platform denies stays; the denial is kept beside it.
    if (operation.settledBy === 'verdict' && before === 'succeeded' && ruling.kind === 'failed' && by !== 'verdict') operation.verdict = null;
    return false;
  }
  switch (ruling.kind) {
    case 'succeeded':
      if (by !== 'verdict' && before === 'failed') operation.verdict = null;
      Object.assign(operation, { status: 'succeeded', code: null, result: ruling.result, settledBy: settledBy(before, by), settledAt: at.now, nextProbeAt: null });
      break;
    case 'failed':
      Object.assign(operation, { status: 'failed', code: ruling.code, settledBy: settledBy(before, by), settledAt: at.now, nextProbeAt: null });
      break;
    case 'unknown':
      Object.assign(operation, { status: 'unknown', code: 'PROVIDER_OUTCOME_UNKNOWN', unknownSince: at.now, nextProbeAt: ruling.nextProbeAt });
      break;
    case 'not_done':
      Object.assign(operation, { status: 'pending', claim: null, failures: operation.failures + 1, heldBy: ruling.heldBy });
      break;
    case 'resend':
      operation.claim!.until = ruling.at;
      return true;
  }
  if (before !== operation.status) operation.revision += 1;
  if (operation.status === 'unknown') operation.events.push('operation.unknown');
  if (operation.status !== before && operation.unknownSince !== null && (ruling.kind === 'succeeded' || ruling.kind === 'failed')) operation.events.push('operation.resolved');
  follow(operation, ruling, at.now);
  return true;
}

function admits({ status, claim, settledBy, result }: Operation, { by, ruling, mine, now }: { by: By; ruling: Ruling; mine: boolean; now: number }): boolean {
  switch (status) {
    case 'pending': return by === 'service';
    case 'sending': return mine || ((by === 'service' ? ruling.kind === 'unknown' : by === 'probe') && claim!.until <= now);
    case 'unknown': return (mine || by === 'probe' || by === 'verdict') && (ruling.kind === 'succeeded' || ruling.kind === 'failed');
    default: return settledBy === 'verdict' && ruling.kind === 'succeeded' && (mine || by === 'probe') && (status === 'failed' || ruling.result !== result);
  }
}

function settledBy(before: OperationStatus, by: By): string {
  if (by !== 'sender') return by;
  return before === 'sending' ? 'answer' : 'late_answer';
}

/** The target shows what its operation says, unless a newer attempt of it is open, unknown or succeeded. */
function follow(operation: Operation, ruling: Ruling, now: number): void {
  const { target } = operation;
  const { post } = target;
  if (target.operation !== operation && target.operation!.status !== 'failed') return;
  switch (ruling.kind) {
    case 'succeeded':
      Object.assign(target, { status: 'published', code: null, operation });
      post.publishedAt ??= now;
      break;
    case 'failed':
      Object.assign(target, { status: 'failed', code: ruling.code });
      break;
    case 'unknown':
      Object.assign(target, { status: 'failed', code: 'PROVIDER_OUTCOME_UNKNOWN' });
      break;
    case 'not_done':
      target.waitingUntil = ruling.until;
      return;
    case 'resend':
      return;
  }
  target.waitingUntil = 0;
  refresh(post);
}

/** What was not claimed yet is cancelled and never sent; what is under way ends by itself. */
export function cancelPending(world: World, post: Post): number {
  const pending = world.operations.filter((one) => one.target.post === post && one.status === 'pending' && one.target.operation === one);
  for (const operation of pending) {
    Object.assign(operation, { status: 'failed', code: 'CANCELLED', settledBy: 'service', revision: operation.revision + 1 });
    Object.assign(operation.target, { status: 'failed', code: 'CANCELLED', waitingUntil: 0 });
  }
  return pending.length;
}

export function isTooLate(post: Post, since: number | null, now: number): boolean {
  return post.onLate !== 'publish' && since !== null && Math.floor((now - since) / 1_000) * 1_000 > post.maxLatenessMs;
}

export function backToDraft(post: Post): void {
  for (const target of post.targets) Object.assign(target, { status: 'draft', code: null, waitingUntil: 0 });
  Object.assign(post, { scheduledAt: null, status: 'draft' });
}
