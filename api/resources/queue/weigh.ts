import { AUTO_AHEAD_MIN_MS, SCHEDULE_AHEAD_MAX_MS } from '../../../infra/contract/limits.ts';
import type { Platform } from '../../../infra/contract/platforms.ts';
import type { QueueSlot } from '../../../infra/db/entities/queue-schedule.entity.ts';
import type { Block, Blocker } from './blocking.ts';
import { defaultEngagement, defaultHours } from './default-times.ts';
import { engagementOf, type AccountHistory, type Engagement } from './engagement.ts';
import { hourOfWeek, instantsOf, slotOf, type Horizon, type HourOfWeek, type SlotInstant } from './weekly-times.ts';

export type SlotSource = 'queue_slot' | 'best_time' | 'default';

/** All that decides which slot is the best. Equal questions have equal answers. */
export interface SlotQuestion {
  now: Date;
  /** Instants up to this one do not count. */
  after: Date | null;
  /** In which hours of the week are meant. */
  zone: string;
  /** Of each account of the post. */
  platforms: readonly Platform[];
  /** The only times at which its owner wants anything published; null = there is no schedule. */
  slots: readonly QueueSlot[] | null;
  history: readonly AccountHistory[];
  /** Where candidates are slots of the queue, a slot that is taken blocks too. */
  blockerOf(source: SlotSource): Blocker;
}

export interface WeighedSlot extends SlotInstant {
  score: number;
  /** The two parts of the score. */
  recency: number;
  engagement: number;
}

export interface Weighed {
  source: SlotSource;
  /** Best first. */
  free: WeighedSlot[];
  blocked: (WeighedSlot & { block: Block })[];
  horizon: Horizon;
}

const DAY_MS = 86_400_000;
const RECENCY_WEIGHT = 60;
const ENGAGEMENT_WEIGHT = 40;

/** How far ahead a slot may be. */
export function slotHorizon(now: Date): Horizon {
  return { from: new Date(now.getTime() + AUTO_AHEAD_MIN_MS), to: new Date(now.getTime() + SCHEDULE_AHEAD_MAX_MS) };
}

/** Weighs every candidate of the first source that has a free one: the slots of the queue alone where there is one, else the account's own history, else the defaults. */
export function weigh(question: SlotQuestion): Weighed {
  const engagement = engagementOf(question.history);
  if (question.slots !== null) return weighSource(question, { source: 'queue_slot', slots: question.slots, of: engagement?.of ?? none });
  const ofHistory = engagement === null ? null : weighHistory(question, engagement);
  if (ofHistory !== null && ofHistory.free.length > 0) return ofHistory;
  const slots = defaultHours([...new Set(question.platforms)]).map((hour) => slotOf(hour, question.zone));
  return weighSource(question, { source: 'default', slots, of: (at) => defaultEngagement(question.platforms, at) });
}

function weighHistory(question: SlotQuestion, { best, of }: Engagement): Weighed {
  return weighSource(question, { source: 'best_time', slots: best.map((hour) => slotOf(hour, question.zone)), of });
}

function none(): number {
  return 0;
}

interface Source {
  source: SlotSource;
  slots: readonly QueueSlot[];
  of(at: HourOfWeek): number;
}

function weighSource(question: SlotQuestion, { source, slots, of }: Source): Weighed {
  const { now, after, zone } = question;
  const horizon = slotHorizon(now);
  const blocker = question.blockerOf(source);
  const weighed: Weighed = { source, free: [], blocked: [], horizon };
  for (const candidate of instantsOf(slots, horizon)) {
    if (after !== null && candidate.at <= after) continue;
    const slot = { ...candidate, ...scoreOf(candidate.at, now, of(hourOfWeek(candidate.at, zone))) };
    const block = blocker(candidate.at);
    if (block === null) weighed.free.push(slot);
    else weighed.blocked.push({ ...slot, block });
  }
  weighed.free.sort(bestFirst);
  weighed.blocked.sort(bestFirst);
  return weighed;
}

function scoreOf(at: Date, now: Date, share: number): Pick<WeighedSlot, 'score' | 'recency' | 'engagement'> {
  const recency = RECENCY_WEIGHT * (1 - (at.getTime() - now.getTime()) / DAY_MS / 30);
  const engagement = ENGAGEMENT_WEIGHT * share;
  return { score: rounded(recency + engagement), recency: rounded(recency), engagement: rounded(engagement) };
}

function rounded(number: number): number {
  return Math.round(number * 100) / 100;
}

export function bestFirst(a: WeighedSlot, b: WeighedSlot): number {
  return b.score - a.score || a.at.getTime() - b.at.getTime();
}
