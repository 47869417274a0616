import { ApiError } from '../../../infra/contract/errors.ts';
import { readUsage } from '../../../infra/db/repositories/usage.ts';
import { readPost } from '../../../infra/db/repositories/posts.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import type { Call, Reply } from '../../route.ts';
import { assertNamedWorkspace } from '../../workspace-access.ts';
import { assertPost, refuseArchived } from './access.ts';
import { UNITS_OF_POST } from './create.ts';
import { expectedTimes } from './planning/expected-times.ts';
import { planIssue, type PlanIssue } from './planning/issues.ts';
import { collecting } from './planning/judge.ts';
import { planPost, type PostWish } from './planning/plan.ts';
import { scheduleOrRefuse, type Schedule } from './planning/schedule.ts';
import { scheduleOfChange, wishOfChange, wishOfCreation } from './planning/wish.ts';
import { presentPreflight, type PreflightQuota } from './preflight.present.ts';
import { QUOTA_NEARLY_USED } from '../../../infra/contract/limits.ts';

/** POST /v1/posts/preflight: the plan that a creation would carry out, with everything that speaks against it. Stores nothing. */
export async function preflightPost(call: Call): Promise<Reply> {
  const { body } = call;
  if (typeof body.workspace_id === 'string') await assertNamedWorkspace(call, body.workspace_id, 'write');
  const found: PlanIssue[] = [];
  const judge = collecting(found);
  const state = typeof body.post_id === 'string' ? await baseOf(call, body.post_id) : null;
  if (state !== null) await judge(() => refuseArchived(call, state.post), undefined);
  const schedule = await judge(() => scheduleOf(call, state), { kind: 'later', at: null, wallTime: null, warnings: [] });
  const wish: PostWish = state === null ? wishOfCreation(body, schedule) : wishOfChange(body, state, schedule);
  const plan = await planPost(call, wish, { judge, lock: false });
  const expected = await expectedTimes(call, { schedule: plan.schedule, targets: plan.targets, postId: wish.postId });
  const quota = await quotaOf(call, { units: state === null ? UNITS_OF_POST : 0 });
  const issues = [...found, ...plan.issues, ...expected.issues, ...quotaIssues(quota)];
  return { status: 200, body: presentPreflight({ call, plan, wish, base: state, expected, quota, issues }), workspaceIds: [plan.workspaceId] };
}

/** Only what could be changed can be laid under a wish. */
async function baseOf({ tx, caller }: Call, id: string): Promise<PostState> {
  const state = await readPost(tx, id);
  assertPost(state, caller);
  const { status } = state.post;
  if (status === 'draft' || status === 'scheduled') return state;
  throw new ApiError('INVALID_STATE', `A ${status} post cannot be changed, so there is nothing to check. Leave post_id out, or name a draft or scheduled post.`, { details: { status } });
}

function scheduleOf(call: Call, state: PostState | null): Schedule {
  const { body, now } = call;
  if (state !== null) return scheduleOfChange(call, state.post);
  return scheduleOrRefuse(body.scheduled_at, { timezone: body.timezone ?? 'UTC', now });
}

async function quotaOf({ tx, caller, now }: Call, { units }: { units: number }): Promise<PreflightQuota> {
  const { used, limit } = await readUsage(tx, { of: caller, now });
  const refuses = limit !== null && caller.organization.quotaMode === 'hard';
  return { units, used, limit, allowed: !refuses || used + units <= limit };
}

function quotaIssues({ units, used, limit, allowed }: PreflightQuota): PlanIssue[] {
  if (!allowed) return [planIssue({ code: 'QUOTA_EXCEEDED', severity: 'error', message: `The ${limit} units of this month are used.`, fix: 'Wait for the next month, or ask for a larger plan.', path: [], details: { used, limit, requested: units } })];
  if (limit === null || used <= limit * QUOTA_NEARLY_USED) return [];
  return [planIssue({ code: 'QUOTA_NEARLY_USED', severity: 'warning', message: `${used} of the ${limit} units of this month are used.`, fix: 'Ask for a larger plan in time.', path: [], details: { used, limit } })];
}
