import type { PostState } from '../../../infra/db/repositories/events.ts';
import { CATCH_UP_LATENESS_DEFAULT_SECONDS } from '../../../infra/contract/limits.ts';
import { instant } from '../../../infra/wire/post-target.ts';
import { mediaTypeOf } from '../../../infra/contract/media-type.ts';
import { stepsOf } from '../../../providers/catalog.ts';
import type { Call } from '../../route.ts';
import { localTime } from '../queue/weekly-times.ts';
import { presentAutoSchedule } from './auto-schedule.present.ts';
import type { ExpectedTimes } from './planning/expected-times.ts';
import type { PlanIssue } from './planning/issues.ts';
import type { PlannedTarget } from './planning/planned-targets.ts';
import type { PostPlan, PostWish } from './planning/plan.ts';

export interface PreflightQuota {
  units: number;
  used: number;
  limit: number | null;
  allowed: boolean;
}

interface Shown {
  call: Call;
  plan: PostPlan;
  wish: PostWish;
  /** The post that was laid under the wish. */
  base: PostState | null;
  expected: ExpectedTimes;
  quota: PreflightQuota;
  issues: readonly PlanIssue[];
}

type Wire = Record<string, unknown>;

export function presentPreflight(shown: Shown): Wire {
  const { plan, quota, issues } = shown;
  const { kind } = plan.schedule;
  return {
    valid: issues.every((issue) => issue.severity !== 'error'),
    status: kind === 'draft' ? 'draft' : kind === 'later' || kind === 'auto' ? 'scheduled' : 'publishing',
    workspace_id: plan.workspaceId,
    schedule: presentSchedule(shown),
    content: plan.content,
    accounts: plan.targets.map((target) => presentAccountPlan(target, shown)),
    unresolved: plan.unresolved,
    cross_post_actions: [],
    recycling: null,
    signature: presentSignature(plan.signature),
    features: plan.features,
    quota,
    issues,
  };
}

function presentSignature(signature: PostPlan['signature']): Wire | null {
  if (signature === null) return null;
  const { id, name, position, workspaceId } = signature;
  return { id, name, position, ...(workspaceId === null ? {} : { workspace_id: workspaceId }) };
}

function presentSchedule({ call, plan, wish, base }: Shown): Wire {
  const { schedule, auto, timezone } = plan;
  const { catch_up: given } = call.body;
  const stored = base !== null && !('catch_up' in call.body) ? base.post : null;
  return {
    scheduled_at: instant(schedule.at),
    local: schedule.at === null ? null : localTime(schedule.at, timezone),
    timezone,
    source: wish.schedule.kind === 'auto' || auto !== null ? 'auto' : wish.schedule.kind === 'draft' || wish.schedule.kind === 'now' ? wish.schedule.kind : 'iso',
    auto_schedule: presentAutoSchedule(auto, call.caller),
    catch_up: {
      max_lateness_seconds: stored?.maxLatenessSeconds ?? given?.max_lateness_seconds ?? CATCH_UP_LATENESS_DEFAULT_SECONDS,
      on_late: stored?.onLate ?? given?.on_late ?? 'hold',
    },
  };
}

function presentAccountPlan(target: PlannedTarget, { call, expected, issues }: Shown): Wire {
  const { account, text, media, options, length, twin } = target;
  const expectedTime = expected.byAccount.get(account.id);
  const own = issues.filter((issue) => issue.account_id === account.id);
  return {
    account_id: account.id,
    platform: account.platform,
    username: account.username ?? null,
    display_name: account.displayNameOverride ?? account.displayName ?? null,
    account_status: account.status,
    text,
    text_source: target.textOrigin,
    length: { value: length.value, limit: length.limit, unit: length.unit, per_url: length.perUrl },
    media: media.map((item, index) => ({ index, type: mediaTypeOf(item), url: item.url, media_id: null, checks: checksOf(index, own) })),
    options,
    thread: null,
    expected_at: instant(expectedTime?.at),
    expected_wait_reason: expectedTime?.waits === true ? 'rate_budget' : null,
    steps: stepsOf({ ...account, username: account.username ?? null, factsAt: account.factsAt ?? null }, { text, media: media.map((item) => ({ type: mediaTypeOf(item), altText: item.alt_text ?? null })), options, now: call.now }),
    duplicate: twin === null ? null : { post_id: twin.postId, target_id: twin.targetId, at: instant(twin.at) },
    issues: own,
  };
}

/** What only the file itself can tell is told when it is fetched. */
function checksOf(index: number, issues: readonly PlanIssue[]): 'passed' | 'unknown' | 'failed' {
  const about = issues.filter((issue) => issue.details.index === index && issue.path.includes('media'));
  if (about.some((issue) => issue.severity === 'error')) return 'failed';
  return about.some((issue) => issue.code === 'MEDIA_FACTS_UNKNOWN' || issue.code === 'MEDIA_TYPE_AMBIGUOUS') ? 'unknown' : 'passed';
}
