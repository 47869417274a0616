import { backToDraft, cancelPending, isTooLate, LIMIT_MS, settle, type Operation, type PublicObject, type Ruling, type World } from './model.ts';
import type { Stop } from './carriers.ts';

/*
 * How an operation is carried, in the model: what a carrier finds when it looks at the row, and what each of its next
 * steps must lead to (decisions-operations.md 23.2 and 23.9, decisions-platforms.md 35 to 38).
 */
const CALL_MS = 60_000;
const CLAIM_MS = 90_000;
const RESEND_MS = 1_000;
const SENDS_MAX = 3;
const KEY_MS = 50 * 60_000;
const PATIENCE_MS = 6 * 3_600_000;
const AGAIN_MS = [5_000, 15_000, 60_000, 300_000];
const LATE_MS = 300_000;
const LATE_GAP_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAYS = [1, 2, 3, 4, 5, 6, 7, 10, 14, 21, 30].map((day) => day * 24 * HOUR_MS);
const SANDBOX_PROBES_MS = [1_000, 3_000, 8_000, 20_000, 45_000, 75_000];
const PROBES_MS = {
  twitter: [...SANDBOX_PROBES_MS, 15 * 60_000, 6 * HOUR_MS, 24 * HOUR_MS],
  mastodon: [...SANDBOX_PROBES_MS, 300_000, 900_000, HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, ...DAYS],
};
const ABSENT_READS = { twitter: 3, mastodon: 2 };
const ABSENT_AFTER_MS = 60_000;
const SAFETY_MS = [HOUR_MS, 24 * HOUR_MS];
const WINDOW_MS = 60_000;

const isKeyed = ({ target }: Operation) => target.account.platform === 'mastodon';

/** A carrier as the model sees it: where it stands, and what it saw when it looked at the row last. */
export interface ModelCarrier {
  operation: Operation;
  at: Stop | 'ended';
  /** Of its look at the row: the time, whether a request was open already, and how many had been sent and failed. */
  seen: { at: number; isOpen: boolean; sends: number; failures: number; claimedAt: number | null };
  answer: { kind: 'not_sent' | 'success' | 'refused' | 'limited' | 'unclear'; sentAt: number } | null;
}

export interface Surroundings {
  world: World;
  now: number;
  isDown: boolean;
  /** Until when a late post was seen to wait for others of its account. Which of them is first is tested elsewhere. */
  heldUntil: number | null;
}

/** Late posts of one account go out one by one, a minute apart. */
export function isLate({ byPerson, beganAt, target: { post } }: Operation): boolean {
  return !byPerson && beganAt - post.scheduledAt! > LATE_MS;
}

/** What a late post can wait for: one before it that was due earlier, the minute after one that went, or the platform's limit, which is looked at once more under the lock of its place. */
export function mayBeHeld(operation: Operation, { world, now }: Surroundings): boolean {
  const { account, post } = operation.target;
  const siblings = world.posts.flatMap((one) => one.targets).filter((target) => target.account === account && target !== operation.target);
  const isAhead = siblings.some((target) => (target.status === 'scheduled' || target.status === 'publishing') && target.post.scheduledAt! <= post.scheduledAt!);
  return isLate(operation) && (isAhead || now - account.lateSentAt < LATE_GAP_MS || account.nextAllowedAt > now);
}

/** Looks at the row until there is a step to take, or nothing for it to do. */
export function look(carrier: ModelCarrier, around: Surroundings): void {
  const { operation } = carrier;
  const { world, now, isDown } = around;
  carrier.at = 'ended';
  if (operation.status === 'sending') {
    if (operation.claim!.until > now) return;
    const again = isKeyed(operation) && operation.sends < SENDS_MAX && now - operation.claimedAt! < KEY_MS;
    const found = again && !isDown ? read(operation, operation.claimedAt!, world) : 'unreadable';
    if (typeof found === 'object') settle(operation, 'probe', { kind: 'succeeded', result: found }, { now });
    else if (found === 'absent') stand(carrier, now, true);
    else settle(operation, 'service', unknownFrom(operation, now), { now });
    return;
  }
  if (operation.status === 'pending') lookAtPending(carrier, around);
}

function stand(carrier: ModelCarrier, now: number, isOpen: boolean): void {
  const { sends, failures, claimedAt } = carrier.operation;
  Object.assign(carrier, { at: 'connected', seen: { at: now, isOpen, sends, failures, claimedAt }, answer: null });
}

function lookAtPending(carrier: ModelCarrier, { world, now, isDown, heldUntil }: Surroundings): void {
  const { operation } = carrier;
  const { target } = operation;
  const { post, account } = target;
  const since = operation.byPerson && post.scheduledAt !== null && operation.beganAt > post.scheduledAt ? operation.beganAt : post.scheduledAt;
  if (post.isDeleted) settle(operation, 'service', { kind: 'failed', code: 'CANCELLED' }, { now });
  else if (now - operation.beganAt > PATIENCE_MS) settle(operation, 'service', { kind: 'failed', code: operation.heldBy ?? 'OPERATION_EXPIRED' }, { now });
  else if (isTooLate(post, since, now)) endLate(world, operation, now);
  else if (target.waitingUntil > now) return;
  else if (heldUntil !== null || account.nextAllowedAt > now) {
    target.waitingUntil = heldUntil ?? Math.min(account.nextAllowedAt, operation.beganAt + PATIENCE_MS + 1, post.onLate === 'publish' ? Infinity : since! + post.maxLatenessMs + 1_000);
    operation.heldBy = 'RATE_LIMITED';
  } else if (isDown) waitAgain(operation, now);
  else stand(carrier, now, false);
}

function waitAgain(operation: Operation, now: number): void {
  operation.target.waitingUntil = now + AGAIN_MS[Math.min(operation.failures, AGAIN_MS.length - 1)]!;
  operation.failures += 1;
  operation.heldBy = 'PROVIDER_UNREACHABLE';
}

/** Past the catch-up limit: the whole post is held while nothing of it was sent, else this target alone has missed its time. */
function endLate(world: World, operation: Operation, now: number): void {
  const { post } = operation.target;
  const isUntouched = post.targets.every((target) => target.status === 'publishing' && target.operation!.status === 'pending');
  if (post.onLate !== 'hold' || !isUntouched) {
    settle(operation, 'service', { kind: 'failed', code: 'SCHEDULE_MISSED' }, { now });
    return;
  }
  cancelPending(world, post);
  backToDraft(post);
  post.holdReason = 'late';
  post.events.push('post.held');
}

/** Lets a carrier go on to its next stop. */
export function step(carrier: ModelCarrier, around: Surroundings): void {
  if (carrier.at === 'connected') claim(carrier, around);
  else if (carrier.at === 'claimed') send(carrier, around);
  else if (carrier.at === 'answered') answer(carrier, around);
}

function claim(carrier: ModelCarrier, around: Surroundings): void {
  const { operation } = carrier;
  const { now } = around;
  const isFree = operation.status === 'pending' || (operation.status === 'sending' && isKeyed(operation) && operation.sends < SENDS_MAX && operation.claim!.until <= now);
  if (!isFree || around.heldUntil !== null) return look(carrier, around);
  if (isLate(operation) && operation.status === 'pending') {
    operation.followsTooSoon = now - operation.target.account.lateSentAt < LATE_GAP_MS;
    operation.target.account.lateSentAt = now;
  }
  if (operation.status === 'pending') operation.revision += 1;
  else operation.repetitions += 1;
  Object.assign(operation, { status: 'sending', claim: { holder: carrier, until: now + CLAIM_MS }, claimedAt: operation.claimedAt ?? now, sends: operation.sends + 1 });
  carrier.at = 'claimed';
}

const NOTHING_DONE = new Set(['refuse', 'limit', 'drop-before', '500-before', 'redirect']);

/** The request goes out, unless its time is over; the platform does with it what the word says, the first time. */
function send(carrier: ModelCarrier, { now }: Surroundings): void {
  const { operation } = carrier;
  const { target } = operation;
  const { account } = target;
  carrier.at = 'answered';
  if (now - carrier.seen.at >= CALL_MS) {
    carrier.answer = { kind: 'not_sent', sentAt: now };
    return;
  }
  const earlier = account.objects.some((one) => one.operation === operation);
  const word = operation.attempt === 1 && !operation.hasArrived ? target.word : 'none';
  operation.hasArrived = true;
  if (!NOTHING_DONE.has(word) && !(earlier && isKeyed(operation))) account.objects.push({ operation, text: operation.text, at: now });
  if (target.hides && !earlier) account.hidden.push(now);
  const kind = word === 'none' ? 'success' : word === 'refuse' ? 'refused' : word === 'limit' ? 'limited' : 'unclear';
  carrier.answer = { kind, sentAt: now };
}

function answer(carrier: ModelCarrier, around: Surroundings): void {
  const { operation } = carrier;
  const { now } = around;
  const { kind, sentAt } = carrier.answer!;
  const isTaken = settle(operation, 'sender', rulingOf(carrier, now), { now, holder: carrier });
  if (isTaken && kind !== 'not_sent') operation.sentAt ??= sentAt;
  if (kind === 'limited' && !carrier.seen.isOpen) operation.target.account.nextAllowedAt = Math.max(operation.target.account.nextAllowedAt, limitedUntil(carrier, now));
  look(carrier, around);
}

function rulingOf({ operation, answer, seen }: ModelCarrier, now: number): Ruling {
  const { kind } = answer!;
  if (kind === 'success') return { kind: 'succeeded', result: operation.target.account.objects.find((one) => one.operation === operation)! };
  if (kind === 'unclear' || seen.isOpen) {
    const firstSentAt = seen.claimedAt ?? now;
    const again = isKeyed(operation) && seen.sends + 1 < SENDS_MAX && now + RESEND_MS - firstSentAt < KEY_MS;
    return again ? { kind: 'resend', at: now + RESEND_MS } : unknownFrom(operation, now);
  }
  if (kind === 'refused') return { kind: 'failed', code: 'CONTENT_REJECTED' };
  if (kind === 'limited') return { kind: 'not_done', until: limitedUntil({ answer, seen }, now), heldBy: 'RATE_LIMITED' };
  return { kind: 'not_done', until: now + AGAIN_MS[Math.min(seen.failures, AGAIN_MS.length - 1)]!, heldBy: 'PROVIDER_UNREACHABLE' };
}

/** Never before the moment that the platform named; later by what the call took, because the wait is counted from its end. */
function limitedUntil({ answer, seen }: Pick<ModelCarrier, 'answer' | 'seen'>, now: number): number {
  return now + LIMIT_MS + answer!.sentAt - seen.at;
}

function unknownFrom(operation: Operation, now: number): Ruling {
  return { kind: 'unknown', nextProbeAt: now + PROBES_MS[operation.target.account.platform][0]! };
}

/** What a read of the platform shows: the one object that can be it, its absence, or nothing that proves anything. */
function read(operation: Operation, since: number, world: World): PublicObject | 'absent' | 'several' | 'unreadable' {
  const { text, target, attempt } = operation;
  const { platform, hidden, objects } = target.account;
  const others = world.operations.filter((one) => one !== operation && one.target === target);
  const from = platform === 'twitter' ? Math.floor((since - WINDOW_MS) / 1_000) * 1_000 : since - WINDOW_MS;
  // The statuses of mastodon are read from the newest on, so what hides among them hides every window.
  if (hidden.some((at) => platform === 'mastodon' || at >= from)) return 'unreadable';
  const candidates = objects.filter((one) => one.text === text && one.at >= from && !others.some(({ status, result }) => status === 'succeeded' && result === one));
  if (candidates.length === 0) return 'absent';
  // A later attempt that has not said yet what it did may have made it.
  const isOurs = candidates.length === 1 && !others.some((one) => one.attempt > attempt && (one.status === 'sending' || one.status === 'unknown'));
  return isOurs ? candidates[0]! : 'several';
}

/** A read of the platform for an operation, when one is due. */
export function probe(operation: Operation, { world, now, isDown }: Surroundings): void {
  const isOpen = operation.status === 'unknown' || (operation.status === 'failed' && operation.settledBy === 'verdict');
  if (!isOpen || operation.nextProbeAt === null || operation.nextProbeAt > now) return;
  const found = isDown ? 'unreadable' : read(operation, operation.sentAt ?? operation.claimedAt!, world);
  if (typeof found === 'object') {
    settle(operation, 'probe', { kind: 'succeeded', result: found }, { now });
    return;
  }
  Object.assign(operation, found === 'absent' ? { absentReads: operation.absentReads + 1, absentSince: operation.absentSince ?? now } : { absentReads: 0, absentSince: null });
  const { platform } = operation.target.account;
  const isProved = found === 'absent' && operation.absentReads >= ABSENT_READS[platform] && now - operation.absentSince! >= ABSENT_AFTER_MS;
  if (isProved && operation.status === 'unknown') settle(operation, 'probe', { kind: 'failed', code: 'PROVIDER_PROVED_ABSENT' }, { now });
  else operation.nextProbeAt = nextProbe(operation, now);
}

function nextProbe(operation: Operation, now: number): number | null {
  if (operation.status === 'unknown') {
    const wait = PROBES_MS[operation.target.account.platform].find((ms) => ms > now - operation.unknownSince!);
    return wait === undefined ? null : Math.max(operation.unknownSince! + wait, now + 500);
  }
  const settledAt = operation.settledAt!;
  const wait = SAFETY_MS.find((ms) => settledAt + ms > now);
  return wait === undefined ? null : settledAt + wait;
}
