import { isDeepStrictEqual } from 'node:util';
import { CATCH_UP_LATENESS_DEFAULT_SECONDS } from '../../../infra/contract/limits.ts';
import type { Post } from '../../../infra/db/entities/post.entity.ts';
import type { Tag } from '../../../infra/db/entities/tag.entity.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import type { Call } from '../../route.ts';
import { signatureToStore } from './create.ts';
import type { PostPlan } from './planning/plan.ts';

type Body = Call['body'];

/** What a change makes of a post. `plan` null: texts, targets and time stay as they are. */
export interface Wished {
  row: Partial<Post>;
  plan: PostPlan | null;
  tags: readonly Tag[];
}

/** The columns that a change writes, as they are to be. */
export function wishedRow(body: Body, post: Post, plan: PostPlan | null): Partial<Post> {
  const given = <T>(name: string, value: T, stored: T): T => (name in body ? value : stored);
  const { maxLatenessSeconds, onLate } = post;
  const { max_lateness_seconds = CATCH_UP_LATENESS_DEFAULT_SECONDS, on_late = 'hold' } = body.catch_up ?? {};
  const own = { notes: given('notes', body.notes, post.notes ?? null), ...given('catch_up', { maxLatenessSeconds: max_lateness_seconds, onLate: on_late }, { maxLatenessSeconds, onLate }) };
  if (plan === null) return own;
  const skipSignature = given('skip_signature', body.skip_signature === true, post.skipSignature);
  return {
    ...own, content: plan.content, textSource: plan.source, signature: signatureToStore(plan, skipSignature), skipSignature, workspaceId: plan.workspaceId,
    media: given('media', body.media, post.media ?? null), targetOptions: plan.targetOptions, timezone: plan.timezone,
    scheduledAt: plan.schedule.at, wallTime: plan.schedule.wallTime, autoSchedule: plan.auto,
    templateId: given('template_id', body.template_id, post.templateId ?? null), shortenUrls: given('shorten_urls', body.shorten_urls === true, post.shortenUrls),
  };
}

/** Wire names of the fields that are given and become another. Giving what is stored already changes nothing. */
export function changedFields(body: Body, { post, targets, tags = [] }: PostState, { row, plan, tags: wishedTags }: Wished): string[] {
  const was = fieldsOf(body, { post, targets, tags });
  const is = fieldsOf(body, { post: { ...post, ...row }, targets: plan?.targets.map(({ account, byId }) => ({ accountId: account.id, byId })) ?? targets, tags: wishedTags });
  return Object.keys(is).filter((name) => name in body && !isDeepStrictEqual(was[name], is[name]));
}

interface Compared {
  post: Post;
  targets: readonly { accountId: string; byId: boolean }[];
  tags: readonly Tag[];
}

function fieldsOf(body: Body, { post, targets, tags }: Compared): Record<string, unknown> {
  const { variables, ...source } = post.textSource;
  const template = post.templateId ?? null;
  return {
    content: source,
    media: post.media ?? null,
    target_options: post.targetOptions ?? null,
    timezone: post.timezone,
    targets: targets.map(({ accountId, byId }) => [accountId, byId]),
    scheduled_at: [post.scheduledAt?.getTime() ?? null, post.wallTime ?? null, post.autoSchedule ?? null],
    // A template may say something else by now; beside content it says nothing.
    template_id: 'content' in body ? template : [template, source],
    template_variables: variables,
    // A draft takes the signature of the moment it is rendered, whatever is wished now.
    skip_signature: [post.skipSignature, post.status === 'draft' ? null : post.signature ?? null],
    shorten_urls: post.shortenUrls,
    notes: post.notes ?? null,
    catch_up: [post.maxLatenessSeconds, post.onLate],
    tag_ids: tags.map((tag) => tag.id).toSorted(),
  };
}
