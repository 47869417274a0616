import { ApiError } from '../../../../infra/contract/errors.ts';
import type { ContentTemplate } from '../../../../infra/db/entities/content-template.entity.ts';
import type { Tx } from '../../../../infra/db/database.ts';
import type { AutoSchedule, FrozenSignature, MediaItem, OptionMap, Post, TextSource } from '../../../../infra/db/entities/post.entity.ts';
import type { Tag } from '../../../../infra/db/entities/tag.entity.ts';
import { findApplicableSignature } from '../../../../infra/db/repositories/signatures.ts';
import type { Call } from '../../../route.ts';
import { chooseSlot } from '../../queue/choose-slot.ts';
import { dayIn } from '../../../time-zone.ts';
import { accountIssues, refuseAccountStates } from './account-states.ts';
import { proFeatures, refuseUpgrade } from './features.ts';
import { planIssue, type PlanIssue } from './issues.ts';
import type { Judge } from './judge.ts';
import { refuseMediaUrls, refuseUnknownMedia } from './media-urls.ts';
import { findTargets } from './find-targets.ts';
import type { Resolution, ResolvedTarget } from './resolve-targets.ts';
import { refuseBroken } from './rules.ts';
import type { Schedule } from './schedule.ts';
import { frozen, readTags, readTemplate, refuseForeignTemplate, textOfTemplate, textOfContent } from './sources.ts';
import { planTargets, readTargets, refuseEmpty, refuseUnresolvedVariables, type PlannedTarget } from './planned-targets.ts';
import { renderShared, type Rendering } from './texts.ts';
import { workspaceOfPost } from './workspace-of-post.ts';

/** A post as it is to be, before it is known whether it can. */
export interface PostWish {
  /** Selectors to resolve; null = the targets that the post has, in its workspace. */
  selectors: readonly string[] | null;
  /** Account ids among the selectors that nobody named: a platform or a workspace once led to them. */
  reached: ReadonlySet<string>;
  standing: { targets: readonly ResolvedTarget[]; workspaceId: string | null };
  workspaceGiven: string | null;
  schedule: Schedule;
  timezone: string;
  /** As the caller gave it; an automatic time looks at the queue's own zone where nobody gave one. */
  timezoneGiven: string | null;
  /** null = the template's. */
  source: TextSource | null;
  /** Looked up because the body names it. */
  templateNamed: string | null;
  variables: Record<string, string>;
  signature: 'default' | FrozenSignature | null;
  /** How the time that stays was chosen. */
  autoKept: AutoSchedule | null;
  media: MediaItem[] | null;
  targetOptions: OptionMap | null;
  tagIds: readonly string[];
  shortenUrls: boolean;
  allowDuplicate: boolean;
  /** The post that is changed, null for a new one. */
  postId: string | null;
}

/** Everything that is stored of an accepted post, and everything that preflight tells of a wish. */
export interface PostPlan {
  schedule: Schedule;
  auto: AutoSchedule | null;
  workspaceId: string | null;
  source: TextSource;
  /** The shared text as the post shows it: of a draft, before it is rendered. */
  content: string | null;
  signature: FrozenSignature | null;
  tags: Tag[];
  targets: PlannedTarget[];
  targetOptions: OptionMap | null;
  timezone: string;
  unresolved: Resolution['unresolved'];
  features: string[];
  /** Findings that refuse nothing; in preflight all of them. */
  issues: PlanIssue[];
}

interface Options {
  judge: Judge;
  /** Preflight reserves nothing, so it takes no locks either. */
  lock: boolean;
  /** State and revision of the post that is changed: judged before what may be in conflict. */
  conflicts?: () => void;
}

/** Rows 2 to 12 of the post's checks, in their order, and what comes out of them. */
export async function planPost(call: Call, wish: PostWish, { judge, lock, conflicts }: Options): Promise<PostPlan> {
  const { caller, infra, tx } = call;
  const issues: PlanIssue[] = [];
  const template = wish.templateNamed === null ? null : await judge<ContentTemplate | null>(() => readTemplate(call, wish.templateNamed!), null);
  const tags = await judge<Tag[]>(() => readTags(call, wish.tagIds), []);
  const features = proFeatures(call.body);
  await judge(() => refuseUpgrade(features, caller), undefined);
  const { targets, unresolved } = await findTargets(call, wish, judge);
  const read = readTargets(targets, wish.targetOptions);
  const layers = read.flatMap((target) => target.read.layers);
  await judge(() => refuseUnknownMedia(layers), undefined);
  const workspaceId = wish.selectors === null ? wish.standing.workspaceId : await judge(() => workspaceOfPost(derivationOf(wish, targets, call)), wish.workspaceGiven);
  await judge(() => refuseForeignTemplate(template, workspaceId), undefined);
  await judge(() => refuseMediaUrls({ media: wish.media, layers }, { config: infra.config, mode: caller.mode }), undefined);

  const { schedule, auto, refuseFull } = await scheduleOf(call, wish, { targets, workspaceId, lock });
  const isDraft = schedule.kind === 'draft';
  const source = wish.source ?? (template === null ? textOfContent(null, wish.variables) : textOfTemplate(template, wish.variables));
  const signature = wish.signature === 'default' ? frozen(await findApplicableSignature(tx, workspaceId)) : wish.signature;
  const rendering: Rendering = { source, signature, date: dayIn(wish.timezone, schedule.at ?? call.now) };
  const planned = await planTargets(call, read, { wish, rendering, schedule });
  issues.push(...timeIssues(schedule), ...sourceIssues(wish, source, planned), ...accountIssues(targets, schedule), ...planned.flatMap((target) => target.issues));

  if (!isDraft) {
    await judge(() => refuseUnresolvedVariables(planned), undefined);
    await judge(() => refuseEmpty(planned), undefined);
    await judge(() => refuseBroken(planned.flatMap((target) => target.issues)), undefined);
  }
  conflicts?.();
  await judge(() => refuseAccountStates(targets, schedule), undefined);
  await judge(refuseFull, undefined);
  const shared = renderShared(rendering, targets.map(({ account }) => account));
  return { schedule, auto, workspaceId, source, content: isDraft ? source.text : shared, signature, tags, targets: planned, targetOptions: wish.targetOptions, timezone: wish.timezone, unresolved, features, issues };
}

function derivationOf(wish: PostWish, targets: readonly ResolvedTarget[], { caller }: Call): Parameters<typeof workspaceOfPost>[0] {
  return { given: wish.workspaceGiven, accounts: targets.map((one) => one.account), selected: wish.selectors!.filter((one) => one.startsWith('ws_')), caller };
}

interface Scheduled {
  schedule: Schedule;
  auto: AutoSchedule | null;
  /** Row 12: where no slot was found. */
  refuseFull: () => void;
}

const NO_TIME: Schedule = { kind: 'later', at: null, wallTime: null, warnings: [] };

/** An automatic time is chosen before texts are rendered, because they may show its date. */
async function scheduleOf({ tx, now }: Call, wish: PostWish, { targets, workspaceId, lock }: { targets: readonly ResolvedTarget[]; workspaceId: string | null; lock: boolean }): Promise<Scheduled> {
  const { schedule } = wish;
  if (schedule.kind !== 'auto') return { schedule, auto: wish.autoKept, refuseFull: () => {} };
  const accounts = targets.map((one) => one.account);
  // Without an account there is nothing to look for; that there is none was said before.
  if (accounts.length === 0) return { schedule: NO_TIME, auto: null, refuseFull: () => {} };
  const choice = await chooseSlot(tx, { accounts, workspaceId, timezone: wish.timezoneGiven, now, lock, ...(wish.postId === null ? {} : { exceptPostId: wish.postId }) });
  if (choice.kind === 'chosen') return { schedule: { kind: 'later', at: choice.at, wallTime: null, warnings: [] }, auto: choice.explanation, refuseFull: () => {} };
  return {
    schedule: NO_TIME,
    auto: null,
    refuseFull: () => {
      throw new ApiError('NO_SLOT_AVAILABLE', 'No free slot was found within 30 days. Add slots to the queue schedule, or give a time.', { details: choice.details });
    },
  };
}

/** What the texts of a draft would be made of if it went out now. */
export async function renderingOfDraft(tx: Tx, post: Post, now: Date): Promise<Rendering> {
  const signature = post.skipSignature ? post.signature ?? null : await findApplicableSignature(tx, post.workspaceId ?? null);
  return { source: post.textSource, signature, date: dayIn(post.timezone, now) };
}

const DST = {
  SCHEDULE_DST_GAP: ['The clocks are put forward over this wall time, so the post goes out later by the gap.', 'Give a time that exists, or one with an offset.'],
  SCHEDULE_DST_OVERLAP: ['The clocks show this wall time twice; the first of the two instants counts.', 'Give an offset if the second is meant.'],
} as const;

function timeIssues({ warnings }: Schedule): PlanIssue[] {
  return warnings.map((code) => planIssue({ code, severity: 'warning', message: DST[code][0], fix: DST[code][1], path: ['scheduled_at'] }));
}

/** Variables and options that nothing uses: most likely misspelt. */
function sourceIssues(wish: PostWish, source: TextSource, planned: readonly PlannedTarget[]): PlanIssue[] {
  const used = new Set(planned.flatMap((target) => target.used));
  const unused = source.kind === 'template' && planned.length === 0 ? [] : Object.keys(wish.variables).filter((name) => !used.has(name));
  const layers = new Set(planned.flatMap((target) => target.layerKeys));
  const options = Object.keys(wish.targetOptions ?? {}).filter((key) => !layers.has(key));
  return [
    // No short-link configuration exists, so none has the mode that asks.
    ...(wish.shortenUrls ? [planIssue({ code: 'SHORTENING_IGNORED', severity: 'warning', message: 'Links are not shortened: the short-link mode is not ask.', fix: 'Leave shorten_urls out.', path: ['shorten_urls'] })] : []),
    ...(unused.length === 0 ? [] : [planIssue({ code: 'TEMPLATE_VARIABLES_UNUSED', severity: 'warning', message: `No text uses ${unused.join(', ')}.`.slice(0, 300), fix: 'Correct the names, or leave them out.', path: ['template_variables'], details: { variables: unused } })]),
    ...options.map((key) => planIssue({ code: 'OPTIONS_UNUSED', severity: 'warning', message: `No target uses the options of ${key}.`, fix: 'Correct the key, or leave it out.', path: ['target_options', key] })),
  ];
}
